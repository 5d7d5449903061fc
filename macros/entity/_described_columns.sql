{#- The declared columns of an entity, completed with the defaults: dictionaries as _entity() lists them. -#}
{%- macro _described_columns(node) -%}
    {%- set columns = [] -%}
    {%- for column in spark_cdc._columns_of(node) -%}
        {%- do columns.append(spark_cdc._described_column(column['name'], column.get('data_type'), spark_cdc._meta_of(column))) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{%- macro _described_column(name, data_type, given) -%}
    {%- set meta = spark_cdc._completed(given, spark_cdc._known_settings().column) -%}
    {{ return({
        'name': name,
        'data_type': (data_type or '') | string | trim | lower,
        'role': meta.role,
        'nullable': given.get('nullable', meta.role != 'key'),
        'from': given.get('from', name) | string,
        'format': meta.format,
        'encoding': meta.encoding,
        'optional': false,
        'was': spark_cdc._names(meta.was),
        'default': meta.default,
        'on_misfit': meta.on_misfit,
        'sql': spark_cdc._quote(name),
    }) }}
{%- endmacro -%}
