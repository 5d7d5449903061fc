{#- What a run is given for its entities: a var, else an environment variable with one value for all of them, or JSON with a value for each:
    {"orders": "2024-03-04", "sites": "2024-03-02"}. The variable is read only while something runs: dbt parses a project anew when a variable changes that was
    read while it parsed. Arguments: name (of the var), variable. Returns the value or mapping, which nobody has checked; none where there is none. -#}
{%- macro _of_run(name, variable) -%}
    {%- set given = var(name, none) -%}
    {%- if given is not none or not execute -%}{{ return(given) }}{%- endif -%}
    {%- set text = env_var(variable, '') | trim -%}
    {{ return(fromjson(text, none) or text if text.startswith('{') else text or none) }}
{%- endmacro -%}
