{#- The business date of this run as it was given: the var `business_date`, else the environment variable SPARK_CDC_BUSINESS_DATE. That holds a date
    for all entities, or JSON with a date for each: {"orders": "2024-03-04", "sites": "2024-03-02"}. It is read only while
    something runs: dbt parses a project anew when a variable changes that was read while it parsed. Argument: name (of the entity). Returns
    the value, which nobody has checked; none where there is none. -#}
{%- macro _business_date(name) -%}
    {%- set given = var('business_date', none) -%}
    {%- if given is not none or not execute -%}{{ return(given) }}{%- endif -%}
    {%- set text = env_var('SPARK_CDC_BUSINESS_DATE', '') | trim -%}
    {%- set by_entity = fromjson(text, none) if text.startswith('{') else none -%}
    {{ return(by_entity.get(name) if by_entity is mapping else text or none) }}
{%- endmacro -%}
