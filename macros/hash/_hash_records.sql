{#- The records of named values, the columns of a row or the fields of a struct, in the order of their names in
    lower case. fields: list of dictionaries {name, type, sql}, type as _hash_type returns it.
    Returns a list of text expressions, one for each field: `,<length>:<name>=<value>`, or '' for null. -#}
{%- macro _hash_records(fields, depth=0) -%}
    {%- set by_name = {} -%}
    {%- for field in fields -%}{%- do by_name.update({field.name | lower: field}) -%}{%- endfor -%}
    {%- set records = [] -%}
    {%- for name, field in by_name.items() | sort(attribute=0, case_sensitive=true) -%}
        {%- set prefix = ',' ~ name.encode('utf-8') | length ~ ':' ~ name ~ '=' -%}
        {%- do records.append(spark_cdc._hash_value(field.sql, field.type, depth, prefix, '')) -%}
    {%- endfor -%}
    {{ return(records) }}
{%- endmacro -%}
