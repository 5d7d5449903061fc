{#- A column as _entity() lists it, completed with the defaults; from what the YAML says of it. Returns a dictionary. -#}
{%- macro _described_column(column) -%}
    {%- set given = spark_cdc._meta_of(column) -%}
    {%- set meta = spark_cdc._completed(given, spark_cdc._known_settings().column) -%}
    {%- set pseudonym = meta.pseudonym_domain or column['name'] if meta.sensitive and meta.pseudonymize else none -%}
    {{ return({
        'name': column['name'],
        'data_type': spark_cdc._declared_type(column.get('data_type') or ''),
        'role': meta.role,
        'nullable': given.get('nullable', meta.role != 'key'),
        'from': given.get('from', column['name']) | string,
        'format': meta.format,
        'century': meta.century | int if meta.century is not none else none,
        'encoding': meta.encoding,
        'decimal': meta.decimal,
        'grouping': meta.grouping,
        'trailing_sign': meta.trailing_sign,
        'numbers': none,
        'optional': false,
        'in_orc': false,
        'was': spark_cdc._names(meta.was),
        'default': meta.default,
        'on_misfit': meta.on_misfit,
        'null_means': meta.null_means,
        'sensitive': meta.sensitive,
        'mask': none if not meta.sensitive else 'token of ' ~ pseudonym if pseudonym else meta.mask,
        'pseudonym': pseudonym,
        'sql': spark_cdc._quote(column['name']),
    }) }}
{%- endmacro -%}
