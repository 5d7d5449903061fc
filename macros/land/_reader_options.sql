{#- Reader options as SQL: what the entity says, and what the project needs. -#}
{%- macro _reader_options(entity, time, more={}) -%}
    {%- set options = {'path': spark_cdc._landing_path(entity, time)} -%}
    {%- if entity.source.format == 'csv' -%}
        {#- with a null text that is not empty, Spark tells "" (empty text) from nothing (null) -#}
        {%- for option, value in {'header': 'true', 'nullValue': '\\N'}.items()
                if option | lower not in entity.source.options | map('lower') | list -%}
            {%- do options.update({option: value}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for option, value in entity.source.options.items() -%}
        {%- do options.update({option: value | string | lower if value is boolean else value}) -%}
    {%- endfor -%}
    {%- do options.update(more) -%}
    {%- set lines = [] -%}
    {%- for option, value in options.items() -%}
        {%- do lines.append('`' ~ option ~ '` ' ~ spark_cdc._literal(value)) -%}
    {%- endfor -%}
    {{ return(lines) }}
{%- endmacro -%}
