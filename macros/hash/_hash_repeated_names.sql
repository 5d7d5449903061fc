{#- Names that stand more than once among the fields, case apart. Returns a list of texts. -#}
{%- macro _hash_repeated_names(fields) -%}
    {%- set seen = [] -%}
    {%- set repeated = [] -%}
    {%- for field in fields -%}
        {%- if field['name'] | lower in seen -%}
            {%- do repeated.append(field['name']) -%}
        {%- endif -%}
        {%- do seen.append(field['name'] | lower) -%}
    {%- endfor -%}
    {{ return(repeated) }}
{%- endmacro -%}
