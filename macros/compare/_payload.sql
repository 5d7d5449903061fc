{#- What a row carries whatever becomes of it: the stored columns and the hashes. -#}
{%- macro _payload(entity, qualifier=none) -%}
    {%- set names = entity.stored | map(attribute='sql') | list + ['key_hash', 'nonkey_hash']
            + (['ignored_hash'] if entity.ignored else []) -%}
    {%- if qualifier is none -%}{{ return(names) }}{%- endif -%}
    {%- set qualified = [] -%}
    {%- for name in names -%}{%- do qualified.append(qualifier ~ '.' ~ name) -%}{%- endfor -%}
    {{ return(qualified) }}
{%- endmacro -%}
