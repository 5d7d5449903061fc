{#- Whether each file's columns are the declared ones, and of one type in all. Returns none, or why the load is to be refused: {guard, message}. -#}
{%- macro _check_schemas(entity, schemas) -%}
    {%- set types = {} -%}
    {%- for schema in schemas -%}
        {%- set name = entity.source.format ~ ' file ' ~ schema.paths[0]
            ~ (' (and ' ~ spark_cdc._counted(schema.paths | length - 1, 'other') ~ ')' if schema.paths | length > 1 else '') -%}
        {%- set refusal = spark_cdc._check_columns(entity, name, schema.columns) -%}
        {%- if refusal -%}{{ return(refusal) }}{%- endif -%}
        {%- for column in schema.columns -%}
            {%- do types.setdefault(column.col_name | lower, {}).setdefault(column.data_type, name) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set problems = [] -%}
    {%- for column, by_type in types.items() if by_type | length > 1 -%}
        {%- for data_type, name in by_type.items() -%}{%- do problems.append(column ~ ' is ' ~ data_type ~ ' in ' ~ name) -%}{%- endfor -%}
    {%- endfor -%}
    {%- if schemas | length > 1 and entity.source.format == 'avro' and not problems -%}
        {%- for schema in schemas -%}
            {%- do problems.append(schema.paths[0] ~ ' has ' ~ schema.columns | map(attribute='col_name') | join(', ')) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- if not problems -%}{{ return(none) }}{%- endif -%}
    {%- set message -%}
{{ entity.name }}: the files of one load have other columns or types than each other.
  {{ problems | join('\n  ') }}
Spark reads all of them by the columns of one. Deliver them alike. Nothing was written.
    {%- endset -%}
    {{ return({'guard': 'column_types', 'message': message}) }}
{%- endmacro -%}
