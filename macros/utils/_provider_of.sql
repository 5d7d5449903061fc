{#- The format of a table as dbt's look at the catalogue has it; an empty text where it does not tell. Argument: cached (relation, or none). -#}
{%- macro _provider_of(cached) -%}
    {%- set found = modules.re.search('(?m)^ *Provider: *([a-zA-Z0-9_.]+)', (cached.information if cached is not none else none) or '') -%}
    {{ return(found.group(1) | lower if found else '') }}
{%- endmacro -%}
