{%- macro _in_loads(loads) -%}
    {%- if loads | length == 1 -%}{{ return("load_id = '" ~ loads[0] ~ "'") }}{%- endif -%}
    {{ return("load_id in ('" ~ loads | join("', '") ~ "')") }}
{%- endmacro -%}
