{#- The settings of a change-event entity, completed with the defaults. Arguments: settings (of meta.spark_cdc, completed),
    columns (the declared ones). Returns what stands under `events` and: format, order and tie_breaker (lists of
    columns), insert_only, unique_keys (lists of columns), unavailable (text that stands for an unchanged value, or
    none), null_means, tombstone_days, archive, is_message (whether the format consists of JSON documents), landed_row (whether its
    adapter hands on the row that it read), images and origin (as _adapter_format() has them), technical (the columns that the format adds to the declared ones, as control columns). -#}
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
    {%- set technical = [] -%}
    {%- set declared = columns | map(attribute='name') | map('lower') | list -%}
    {%- for column in ([] if events.is_message else spark_cdc._adapter(format, '_columns')(dict(settings, events=events)))
            if column.name | lower not in declared -%}
        {%- do technical.append(dict(spark_cdc._described_column(dict(column, meta={'role': 'control'})), optional=not column.required)) -%}
    {%- endfor -%}
    {{ return(dict(events, technical=technical)) }}
{%- endmacro -%}
