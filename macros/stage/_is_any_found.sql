{#- Whether one of some texts is not null. -#}
{%- macro _is_any_found(texts) -%}
coalesce(
    {{ texts | join(',\n    ') }}
) is not null
{%- endmacro -%}
