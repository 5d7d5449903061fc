{#- Names that stand more than once among the fields, case apart. Returns a list of texts. -#}
{%- macro _hash_repeated_names(fields) -%}
    {%- set seen, repeated = [], [] -%}
    {%- for name in fields | map(attribute='name') -%}
        {%- do repeated.append(name) if name | lower in seen -%}
        {%- do seen.append(name | lower) -%}
    {%- endfor -%}
    {{ return(repeated) }}
{%- endmacro -%}
