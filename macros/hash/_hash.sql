{#- The hash of some columns of a row: md5 over the canonical, injective encoding that docs/hash.md specifies
    (version 1), or, if one of the columns is sensitive, HMAC-MD5 over the same with the secret of the
    installation (version 2). Nulls are left out and columns are taken in the order of their names, so a new column that is
    null everywhere, or columns in another order, change no hash. The same on every JVM, in every session time
    zone, with ANSI mode on and off.
    columns: list of dictionaries {name, data_type, sql, secret}; sql is the typed expression, mostly the column itself, secret the table with
    the keys of a sensitive column's hashes (none, or left out, for others).
    Returns an expression of type binary, 16 bytes, never null. -#}
{%- macro _hash(columns) -%}
    {%- if not columns -%}{{ return("unhex(md5(''))") }}{%- endif -%}
    {%- set fields, problems = [], [] -%}
    {%- for column in columns -%}
        {%- set type = spark_cdc._hash_type(column.data_type) -%}
        {%- do problems.append("column '" ~ column.name ~ "': " ~ type.problem) if type.problem -%}
        {%- do fields.append({'name': column.name, 'type': type, 'sql': column.sql}) -%}
    {%- endfor -%}
    {%- for name in spark_cdc._hash_repeated_names(fields) -%}
        {%- do problems.append("column '" ~ name ~ "' is given more than once: names that differ by case only count as one, "
            ~ "rename one of them") -%}
    {%- endfor -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error('spark_cdc.hash can not hash these columns:\n  - ' ~ problems | join('\n  - ')) -%}
    {%- endif -%}
    {{ return(spark_cdc._hash_digest('concat(\n    ' ~ spark_cdc._hash_records(fields) | join(',\n    ') ~ '\n)', spark_cdc._secret_of(columns))) }}
{%- endmacro -%}
