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
        unavailable=given.get('unavailable', about.unavailable),
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
    {%- for column in ([] if events.is_message else spark_cdc._adapter(format, '_columns')(dict(settings, events=events)))
            if column.name | lower not in declared -%}
        {%- do found.update({column.name: dict(column, meta={'role': 'control'})}) -%}
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


{#- The macro events_<format><suffix>, of the user's own project or of this one; none if there is
    none. Without a suffix that is the adapter: of an entity and a relation (of messages with
    message, message_key and landed_row, or of rows with all columns as declared) it makes a
    query with the columns of the canonical event (docs/events.md), rows with all their own
    columns too. -#}
{%- macro _adapter(format, suffix='') -%}
    {%- set name = 'events_' ~ format ~ suffix -%}
    {{ return(context.get(name) or context['spark_cdc'].get('_' ~ name)) }}
{%- endmacro -%}


{#- What a format says of itself in the macro events_<format>_format(), or of its settings alone
    in events_<format>_settings(). Returns a dictionary: settings (those that only this format
    has, with the values they accept, or none), has_order (whether the format has an order of its
    own, so that events.order is refused), landed_row (whether the adapter hands on that column),
    images (the fields of a message that hold columns of the table), origin (whether the adapter
    says where events are from, in event_origin), unavailable (text that stands for an unchanged
    value), position (which fields give it, for messages), feed (what the change feed of a table
    of this format counts in, where the table itself can be read: events_<format>_feed_now() and
    what lies beside it), orders_halves (whether the last number of a position only puts the
    delete before the insert of a key change that is told as both). -#}
{%- macro _adapter_format(format) -%}
    {%- set memo, kept = spark_cdc._memo(), 'format ' ~ format -%}
    {%- if kept not in memo -%}{%- do memo.update({kept: spark_cdc._described_format(format)}) -%}{%- endif -%}
    {{ return(memo[kept]) }}
{%- endmacro -%}


{#- The same, asked of its macros. -#}
{%- macro _described_format(format) -%}
    {%- set described = {'settings': {}, 'has_order': false, 'landed_row': false, 'images': [], 'origin': false, 'unavailable': none, 'position': none, 'feed': none,
        'orders_halves': false} -%}
    {%- set settings_of, format_of = spark_cdc._adapter(format, '_settings'), spark_cdc._adapter(format, '_format') -%}
    {%- do described.update({'settings': settings_of()}) if settings_of -%}
    {%- do described.update(format_of()) if format_of -%}
    {{ return(described) }}
{%- endmacro -%}


{#- What is wrong with an entity's settings of its format, as the macro events_<format>_problems
    says, if there is one.
    Returns a list of texts. -#}
{%- macro _adapter_problems(entity) -%}
    {%- set problems_of = spark_cdc._adapter(entity.events.format, '_problems') -%}
    {{ return(problems_of(entity) if problems_of else []) }}
{%- endmacro -%}


{#- Whether events of a format are JSON documents, not rows with columns of their own. -#}
{%- macro _is_message_format(format) -%}
    {{ return(spark_cdc._adapter(format, '_columns') is none) }}
{%- endmacro -%}


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
