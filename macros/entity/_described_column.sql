{#- A column as _entity() lists it, completed with the defaults. Arguments: name, data_type, given (its meta),
    rules (of _known_settings). Returns a dictionary. -#}
{%- macro _described_column(name, data_type, given, rules) -%}
    {%- set meta = spark_cdc._completed(given, rules) -%}
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
