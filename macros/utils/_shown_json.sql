{#- A value as JSON for people: letters outside ASCII as they are, which dbt's tojson() escapes; what can't be printed stays escaped. -#}
{%- macro _shown_json(value) -%}
    {%- set shown = namespace(text=tojson(value)) -%}
    {%- for sign in value | string | unique(case_sensitive=true) if sign > '~' -%}
        {%- set shown.text = shown.text | replace(tojson(sign)[1:-1], sign) -%}
    {%- endfor -%}
    {{ return(shown.text) }}
{%- endmacro -%}
