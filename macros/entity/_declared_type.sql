{#- A type as it is declared, in lower case but for the names of fields. -#}
{%- macro _declared_type(data_type) -%}
    {%- set text = data_type | string | trim -%}
    {%- set type = spark_cdc._hash_type(text) -%}
    {%- if '<' not in text or type.problem -%}
        {{ return(spark_cdc._plain_type(text)) }}
    {%- endif -%}
    {{ return(text if text == text | lower else spark_cdc._declared_type_text(type)) }}
{%- endmacro -%}


{#- The same of a type as _hash_type() returns it. -#}
{%- macro _declared_type_text(type) -%}
    {%- if type.kind == 'array' -%}
        {{ return('array<' ~ spark_cdc._declared_type_text(type.element) ~ '>') }}
    {%- elif type.kind == 'map' -%}
        {{ return('map<' ~ spark_cdc._declared_type_text(type.key) ~ ',' ~ spark_cdc._declared_type_text(type.value) ~ '>') }}
    {%- elif type.kind != 'struct' -%}
        {{ return(spark_cdc._plain_type(type.text)) }}
    {%- endif -%}
    {%- set fields = [] -%}
    {%- for field in type.fields -%}
        {%- set is_plain = field.name.replace('_', 'a').isalnum() and field.name.isascii() and not field.name.isdigit() -%}
        {%- set name = field.name if is_plain else '`' ~ field.name.replace('`', '``') ~ '`' -%}
        {%- do fields.append(name ~ ':' ~ spark_cdc._declared_type_text(field.type)) -%}
    {%- endfor -%}
    {{ return('struct<' ~ fields | join(',') ~ '>') }}
{%- endmacro -%}
