{#- Bytes for people. -#}
{%- macro _bytes_text(bytes) -%}
    {%- for unit, size in [('GB', 1000000000), ('MB', 1000000), ('kB', 1000)] if bytes >= size -%}
        {{ return('%.1f %s' % (bytes / size, unit)) }}
    {%- endfor -%}
    {{ return(bytes ~ ' bytes') }}
{%- endmacro -%}
