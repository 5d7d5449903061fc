{#- What is wrong with the settings of a change-event entity. Returns a list of texts. -#}
{%- macro _event_problems(node, settings) -%}
    {%- set given = settings.get('events') -%}
    {%- if settings.get('load_type') != 'events' -%}
        {{ return([] if given is none else [
            'events is given, but load_type is ' ~ settings.get('load_type') ~ ': remove it, or set load_type: events'
        ]) }}
    {%- elif given is not mapping or not given.get('format') -%}
        {{ return(['events.format is missing: name the format of the events, one of ' ~ spark_cdc._event_formats() | join(', ')]) }}
    {%- elif not spark_cdc._adapter(given.format) or given.format == 'full_snapshot' -%}
        {%- set message = "events.format is '%s', and there is no macro events_%s; accepted are %s, or a format of your own: write that macro "
                          '(see docs/events.md)' -%}
        {{ return([message % (given.format, given.format, spark_cdc._event_formats() | join(', '))]) }}
    {%- endif -%}

    {%- set about = spark_cdc._adapter_format(given.format) -%}
    {%- set rules = spark_cdc._known_settings().events -%}
    {%- for name, accepted in about.settings.items() -%}
        {%- set is_choice = accepted and accepted is not string -%}
        {%- set rule = {'kind': 'choice', 'accepted': accepted} if is_choice else {'kind': 'any'} -%}
        {%- do rules.update({name: {'kind': 'names', 'null': true} if name == 'table' and about.origin else rule}) -%}
    {%- endfor -%}
    {%- set problems = spark_cdc._unknown_key_problems('events', given, rules | list) -%}
    {%- do problems.extend(spark_cdc._setting_problems('events.', given, rules)) -%}

    {%- set columns = spark_cdc._described_columns(node) -%}
    {%- set known = columns | map(attribute='name') | map('lower') | list -%}
    {%- set named = [('order', given.get('order')), ('tie_breaker', given.get('tie_breaker'))] -%}
    {%- for names in given.get('unique_keys') or [] -%}{%- do named.append(('unique_keys', names)) -%}{%- endfor -%}
    {%- set message = "events.%s names '%s', which is no column of the entity: declare it (with `role: control` if it is not to be stored) or "
                      'correct the name' -%}
    {%- for setting, names in named -%}
        {%- for name in spark_cdc._names(names) if name | lower not in known -%}{%- do problems.append(message % (setting, name)) -%}{%- endfor -%}
        {%- if setting != 'unique_keys' -%}
            {%- do problems.extend(spark_cdc._order_type_problems('events.' ~ setting, spark_cdc._columns_by_name(columns, names))) -%}
        {%- endif -%}
    {%- endfor -%}

    {%- set source = settings.get('source') or {} -%}
    {%- set is_csv = source is mapping and source.get('format', 'csv') == 'csv' -%}
    {%- do problems.extend(spark_cdc._broken({'format': given.format, 'setting': 'order_fields' if 'order_fields' in rules else 'tie_breaker'}, [
        (given.get('unique_keys') and 'key' not in columns | map(attribute='role'),
         'events.unique_keys is given, but no column has the role key: remove it, or give the role'),
        (is_csv and spark_cdc._is_message_format(given.format),
         'source.format is csv, but events of the format %(format)s are JSON documents: set it to json, or to parquet, orc, avro or table where '
         'they lie in a column `value`'),
        (given.get('order') and about.has_order,
         'events.order is given, but the format %(format)s has an order of its own: remove it, or name what is to be added to that order under '
         'events.%(setting)s'),
    ])) -%}
    {#- the format's own check reads the settings as they will be used, so they have to be whole -#}
    {%- if not problems and [source, settings.get('checkpoint') or {}, settings.get('guards') or {}] | reject('mapping') | list == [] -%}
        {%- do problems.extend(spark_cdc._adapter_problems(spark_cdc._described_entity(node.name[4:], node, as_declared=true))) -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}
