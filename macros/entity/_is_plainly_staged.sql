{#- Whether the model stg_<entity> is a call of stage() and nothing more. -#}
{%- macro _is_plainly_staged(name) -%}
    {%- set code = spark_cdc.entity_node(name).get('raw_code') or '{{ spark_cdc.stage() }}' -%}
    {%- set plain = '([{]#.*?#[}]|[{][{]-?\\s*spark_cdc[.]stage[(][^{}]*[)]\\s*-?[}][}]|\\s)*' -%}
    {{ return(modules.re.fullmatch(plain, code, modules.re.DOTALL) is not none) }}
{%- endmacro -%}
