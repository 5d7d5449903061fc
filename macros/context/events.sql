{#- The settings of a change-event entity, completed with the defaults. Arguments: settings (of
    meta.spark_cdc, completed), columns (the declared ones). Returns what stands under `events`
    and: format, order and tie_breaker (lists of columns), insert_only, unique_keys (lists of
    columns), unavailable (text that stands for an unchanged value, or none), null_means,
    tombstone_days, archive, is_message (whether the format consists of JSON documents),
    landed_row (whether its adapter hands on the row that it read), images and origin (as
    _adapter_format() has them), technical (the columns that the format adds to the declared
    ones, as control columns). -#}
{%- macro _event_settings(settings, columns) -%}
    {%- set given = settings.get('events') or {} -%}
    {%- set format = given.get('format') | string -%}
    {%- set about = spark_cdc._adapter_format(format) -%}
    {%- set unique_keys = [] -%}
    {%- for names in given.get('unique_keys') or [] -%}{%- do unique_keys.append(spark_cdc._columns_by_name(columns, names)) -%}{%- endfor -%}
    {%- set events = dict(
        spark_cdc._completed(given, spark_cdc._known_settings().events),
        format=format,
        unavailable=given.unavailable if 'unavailable' in given else about.unavailable,
        is_message=spark_cdc._is_message_format(format),
        landed_row=about.landed_row,
        images=about.images,
        origin=about.origin,
        order=spark_cdc._columns_by_name(columns, given.get('order')),
        tie_breaker=spark_cdc._columns_by_name(columns, given.get('tie_breaker')),
        unique_keys=unique_keys,
    ) -%}
    {%- set technical, found = [], {} -%}
    {%- set declared = columns | map(attribute='name') | map('lower') | list -%}
    {%- for column in about.columns if not column.get('database') or (given.get('database') or column.database) == column.database -%}
        {%- set name = given.get(column.get('setting')) or column.get('name') -%}
        {%- if name and name | lower not in declared -%}
            {%- set type = 'string' if column.data_type == 'binary' and settings.source.text else column.data_type -%}
            {%- do found.update({name: {
                'name': name, 'data_type': type, 'meta': {'role': 'control'}, 'required': column.get('required'),
            }}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for column in spark_cdc._described_columns({'columns': found}) if found -%}
        {%- do technical.append(dict(column, optional=not found[column.name].required)) -%}
    {%- endfor -%}
    {{ return(dict(events, technical=technical)) }}
{%- endmacro -%}


{#- What an event may say that happened, as docs/events.md explains. Returns a list of texts. -#}
{%- macro _event_operations() -%}
    {{ return(['insert', 'update', 'upsert', 'delete', 'truncate', 'read', 'control']) }}
{%- endmacro -%}


{#- The formats of change events that the project reads. -#}
{%- macro _event_formats() -%}
    {{ return([
        'canal', 'change_arrays', 'debezium', 'debezium_flat', 'delta_cdf', 'dms', 'dms_stream', 'flagged_rows', 'goldengate',
        'iceberg_changelog', 'maxwell', 'sqlserver_cdc', 'wal2json',
    ]) }}
{%- endmacro -%}


{#- The macro events_<format><suffix>, of this project if the format is one of its own, or of the
    user's; none if there is none (dbt v2 can't tell that of a user's, and its call says it then).
    Without a suffix that is the adapter: of an entity and a relation (of messages with
    message, message_key and landed_row, or of rows with all columns as declared) it makes a
    query with the columns of the canonical event (docs/events.md), rows with all their own
    columns too. -#}
{%- macro _adapter(format, suffix='') -%}
    {%- set name = 'events_' ~ format ~ suffix -%}
    {%- if spark_cdc['_events_' ~ format] is not defined -%}{{ return(context.get(name)) }}{%- endif -%}
    {{ return(spark_cdc['_' ~ name] if spark_cdc['_' ~ name] is defined else none) }}
{%- endmacro -%}


{#- What a format says of itself in the macro events_<format>_format(). Returns a dictionary of what
    docs/events.md describes, and for the formats of this project: reads ('first', and 'log': the
    numbers of rows of a snapshot say where in the log it began), finds_last (whether it has a macro
    events_<format>_last), feed (what the change
    feed of a table of this format counts in, where the table itself can be read:
    events_<format>_feed_now() and what lies beside it). -#}
{%- macro _adapter_format(format) -%}
    {%- set memo, kept = spark_cdc._memo(), 'format ' ~ format -%}
    {%- if kept in memo -%}{{ return(memo[kept]) }}{%- endif -%}
    {%- set format_of = spark_cdc._adapter(format, '_format') -%}
    {%- set given = format_of() if format_of else {} -%}
    {%- set is_document = given.get('shape') == 'documents' -%}
    {%- set described = {
        'shape': none, 'settings': {'table': none, 'order_fields': none} if is_document else {}, 'has_order': is_document,
        'landed_row': is_document, 'origin': is_document, 'orders_halves': false, 'images': [], 'unavailable': none, 'position': none,
        'columns': [], 'needed': [], 'no_order': none, 'order_setting': none, 'reads': none, 'feed': none, 'problems': false, 'finds_last': false,
    } -%}
    {%- do described.update(given) -%}
    {%- do memo.update({kept: described}) -%}
    {{ return(described) }}
{%- endmacro -%}


{#- What is wrong with an entity's settings of its format: columns that they name, and what the
    macro events_<format>_problems says, if the format has one.
    Returns a list of texts. -#}
{%- macro _adapter_problems(entity) -%}
    {%- set events, about, problems = entity.events, spark_cdc._adapter_format(entity.events.format), [] -%}
    {%- for setting, kind in about.settings.items() if kind in ['column', 'time'] -%}
        {%- set name = events.get(setting) -%}
        {%- set column = spark_cdc._named_column(entity, name) or {} -%}
        {%- do problems.extend(spark_cdc._failed_rules({
            'setting': setting, 'name': name, 'type': column.get('data_type'),
            'accepted': entity.columns | map(attribute='name') | join(', '),
        }, [
            (name is none and setting in about.needed, 'events.%(setting)s is missing: name the column that holds it'),
            (name is not none and not column,
             "events.%(setting)s names '%(name)s', which is no column; accepted are %(accepted)s: "
             'correct it, or declare the column with the role control'),
            (kind == 'time' and column.get('data_type', 'date') not in ['date', 'timestamp', 'timestamp_ntz', 'string'],
             "events.%(setting)s names '%(name)s', which is %(type)s; accepted are timestamp, timestamp_ntz, date and string: "
             'declare it as a timestamp, with an encoding if it holds numbers'),
        ])) -%}
    {%- endfor -%}
    {%- if about.no_order and not events.order and not events.get(about.order_setting) -%}
        {%- do problems.append(about.no_order) -%}
    {%- endif -%}
    {%- for technical in about.columns -%}
        {%- set column = spark_cdc._named_column(entity, technical.get('name')) or {} -%}
        {%- set accepted = technical.get('accepted', [column.get('data_type')]) -%}
        {%- do problems.extend(spark_cdc._failed_rules(dict(column, accepted=accepted | join(', ')), [
            (column.get('data_type') not in accepted,
             "column '%(name)s' is declared %(data_type)s; accepted are %(accepted)s: "
             'correct it, or leave it out, since the format adds it'),
        ])) -%}
        {%- if technical.get('gives_order') -%}
            {%- do problems.extend(spark_cdc._order_type_problems('the format', [column])) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do problems.extend(spark_cdc._order_type_problems('events.order', events.order)) -%}
    {%- set old_key, keys = events.get('old_key') or {}, entity.key_columns | map(attribute='name') | list -%}
    {%- if 'old_key' in about.settings and old_key is not mapping -%}
        {%- do problems.append('events.old_key is not a mapping: write key column: column with its old value below it') -%}
    {%- elif 'old_key' in about.settings -%}
        {%- for name, old in old_key.items() -%}
            {%- do problems.extend(spark_cdc._failed_rules({'name': name, 'old': old, 'accepted': keys | join(', ')}, [
                (name | string | lower not in keys | map('lower') | list,
                 "events.old_key has '%(name)s', which is no key; accepted are %(accepted)s: correct it"),
                (name | string | lower in keys | map('lower') | list and spark_cdc._named_column(entity, old) is none,
                 "events.old_key names '%(old)s', which is no column: declare it with the role control"),
            ])) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- set problems_of = spark_cdc._adapter(events.format, '_problems') if about.problems else none -%}
    {{ return(problems + (problems_of(entity) if problems_of else [])) }}
{%- endmacro -%}


{#- Whether events of a format are JSON documents, not rows with columns of their own. -#}
{%- macro _is_message_format(format) -%}{{ return(spark_cdc._adapter_format(format).shape != 'rows') }}{%- endmacro -%}


{#- Whether the model stg_<entity> is a call of stage() and nothing more. -#}
{%- macro _is_plainly_staged(name) -%}
    {%- set code = spark_cdc.entity_node(name).get('raw_code') or '{{ spark_cdc.stage() }}' -%}
    {%- set bare = namespace(code='') -%}  {#- without comments -#}
    {%- for part in code.split('{' ~ '#') -%}
        {%- set bare.code = bare.code ~ (part if loop.first else part.split('#' ~ '}', 1)[1:] | first | default('{')) -%}
    {%- endfor -%}
    {%- set calls = bare.code.replace('{' ~ '{-', '{' ~ '{').replace('-}' ~ '}', '}' ~ '}').split('}' ~ '}') | map('trim') | list -%}
    {%- for call in calls[:-1] -%}
        {%- set inner = call[2:] | trim -%}
        {%- if call[:2] != '{' ~ '{' or '{' in inner or '}' in inner or not (inner.startswith('spark_cdc.stage(') and inner.endswith(')')) -%}{{ return(false) }}{%- endif -%}
    {%- endfor -%}
    {{ return(calls[-1] == '') }}
{%- endmacro -%}
