{#- What is wrong with the settings of a change-event entity, as a list of texts. -#}
{%- macro _event_problems(node, settings) -%}
    {%- set given = settings.get('events') -%}
    {%- if settings.get('load_type') != 'events' -%}
        {{ return([] if given is none else [
            "events is given, but load_type is " ~ settings.get('load_type') ~ ": remove it, or set load_type: events"
        ]) }}
    {%- elif given is not mapping or not given.get('format') -%}
        {{ return(["events.format is missing: name the format of the events, one of " ~ spark_cdc._event_formats() | join(', ')]) }}
    {%- elif not spark_cdc._adapter(given.format | string) -%}
        {{ return([
            "events.format is '" ~ given.format ~ "', and there is no macro events_" ~ given.format ~ "; accepted are "
            ~ spark_cdc._event_formats() | join(', ') ~ ', or a format of your own: write that macro (see docs/events.md)'
        ]) }}
    {%- endif -%}

    {%- set problems = [] -%}
    {%- set about = spark_cdc._adapter_format(given.format | string) -%}
    {%- set special = about.settings -%}
    {%- do problems.extend(spark_cdc._unknown_key_problems('events', given, [
        'format', 'order', 'tie_breaker', 'insert_only', 'unique_keys', 'unavailable', 'tombstone_days', 'archive'] + special | list)) -%}
    {%- for name, accepted in special.items() if accepted and accepted is not string and name in given -%}
        {%- do problems.extend(spark_cdc._choice_problems('events.' ~ name, given[name], accepted)) -%}
    {%- endfor -%}
    {%- for name in ['insert_only', 'archive'] if given.get(name, false) is not boolean -%}
        {%- do problems.append('events.' ~ name ~ " is '" ~ given[name] ~ "'; accepted are true and false: correct it") -%}
    {%- endfor -%}
    {%- set days = given.get('tombstone_days', 30) -%}
    {%- if days is not integer or days is boolean or days < 0 -%}
        {%- do problems.append("events.tombstone_days is '" ~ days ~ "'; accepted are whole numbers of days from 0: correct it") -%}
    {%- endif -%}

    {%- set columns = spark_cdc._described_columns(node) -%}
    {%- for setting in ['order', 'tie_breaker'] -%}
        {%- do problems.extend(spark_cdc._named_column_problems('events.' ~ setting, given.get(setting), columns)) -%}
        {%- do problems.extend(spark_cdc._order_type_problems('events.' ~ setting, spark_cdc._columns_by_name(columns, given.get(setting)))) -%}
    {%- endfor -%}
    {%- for names in given.get('unique_keys') or [] -%}
        {%- do problems.extend(spark_cdc._named_column_problems('events.unique_keys', names, columns)) -%}
    {%- endfor -%}
    {%- if given.get('unique_keys') and not columns | selectattr('role', 'equalto', 'key') | list -%}
        {%- do problems.append('events.unique_keys is given, but no column has the role key: remove it, or give the role') -%}
    {%- endif -%}
    {%- set source = settings.get('source') or {} -%}
    {%- if source is mapping and source.get('format', 'csv') == 'csv' and not spark_cdc._adapter(given.format | string, '_columns') -%}
        {%- do problems.append("source.format is csv, but events of the format " ~ given.format ~ " are JSON documents: set it to json, "
            ~ "or to parquet, orc, avro or table where they lie in a column `value`") -%}
    {%- endif -%}
    {%- if given.get('order') and about.has_order -%}
        {%- do problems.append('events.order is given, but the format ' ~ given.format ~ ' has an order of its own: remove it, or name '
            ~ 'what is to be added to that order under events.' ~ ('order_fields' if 'order_fields' in special else 'tie_breaker')) -%}
    {%- endif -%}
    {#- the format's own check reads the settings as they will be used, so they have to be whole -#}
    {%- if not problems and source is mapping and (settings.get('checkpoint') or {}) is mapping -%}
        {%- do problems.extend(spark_cdc._adapter_problems(spark_cdc._described_entity(node.name[4:], node))) -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The formats that the project reads. -#}
{%- macro _event_formats() -%}
    {{ return([
        'canal', 'change_arrays', 'debezium', 'debezium_flat', 'delta_cdf', 'dms', 'flagged_rows', 'goldengate',
        'iceberg_changelog', 'maxwell', 'sqlserver_cdc', 'wal2json',
    ]) }}
{%- endmacro -%}


{#- Names that are no columns of the entity. -#}
{%- macro _named_column_problems(label, names, columns) -%}
    {%- set problems = [] -%}
    {%- set known = columns | map(attribute='name') | map('lower') | list -%}
    {%- for name in ([names] if names is string else names or []) if name | string | lower not in known -%}
        {%- do problems.append(label ~ " names '" ~ name ~ "', which is no column of the entity: declare it (with "
            ~ "`role: control` if it is not to be stored) or correct the name") -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
