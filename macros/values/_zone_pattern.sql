{#- A regular expression for the zone at the end of a time: Z, an offset, UTC or a region. -#}
{%- macro _zone_pattern() -%}
    {{ return('([zZ]|(UTC|GMT|UT)?[+-][0-9]{1,2}(:?[0-9]{2})?|UTC|GMT|UT|[A-Za-z_]+(/[A-Za-z0-9_+-]+)+)') }}
{%- endmacro -%}
