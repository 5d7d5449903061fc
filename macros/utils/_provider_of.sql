{#- The format of a table as dbt's look at the catalogue has it; an empty text where it does not tell. Iceberg's tables pass for Hive's there. Argument:
    cached (relation, or none). -#}
{%- macro _provider_of(cached) -%}
    {%- set information = (cached.information if cached is not none else none) or '' -%}
    {%- set found = modules.re.search('(?m)^ *Provider: *([a-zA-Z0-9_.]+)', information) -%}
    {{ return('iceberg' if 'table_type=ICEBERG' in information else found.group(1) | lower if found else '') }}
{%- endmacro -%}
