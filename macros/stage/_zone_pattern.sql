{#- A regular expression for text of a time that ends in a zone: Z, an offset, UTC or a region. -#}
{%- macro _zone_pattern() -%}
    {{ return(':.*([zZ]|[+-][0-9]{1,2}(:?[0-9]{2})?|UTC|GMT|UT|[A-Za-z_]+/[A-Za-z_/]+) *$') }}
{%- endmacro -%}
