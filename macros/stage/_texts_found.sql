{#- Those of some different texts that are not null, as an array: array_except() is compiled with what stands around it,
    array_compact() is not. -#}
{%- macro _texts_found(texts) -%}
{%- if not texts -%}
cast(array() as array<string>)
{%- else -%}
array_except(array(
    {{ texts | join(',\n    ') }}
), array(cast(null as string)))
{%- endif -%}
{%- endmacro -%}
