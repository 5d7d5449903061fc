{#- What a load reads, in words: for messages and for cdc_loads. -#}
{%- macro _landing_input(entity, landing, time) -%}
    {%- if entity.source.format == 'table' -%}
        {{ return('table ' ~ landing ~ ' where ' ~ entity.source.date_column ~ ' is ' ~ spark_cdc._time_text(entity, time)) }}
    {%- endif -%}
    {{ return(entity.source.format ~ ' files of ' ~ spark_cdc._landing_path(entity, time)) }}
{%- endmacro -%}


{#- The folder of a business date: {business_date} in the path becomes 2019-06-19 (2019-06-19T001500 where loads
    are finer than a day), {business_date:%Y/%m/%d} whatever strftime makes of it. -#}
{%- macro _landing_path(entity, time) -%}
    {%- set path = entity.source.path -%}
    {%- set default = '%Y-%m-%d' if entity.eff_type == 'date' else '%Y-%m-%dT%H%M%S' -%}
    {%- set parts = [] -%}
    {%- for part in modules.re.split('([{]business_date(?::[^{}]*)?[}])', path) -%}
        {%- if loop.index is odd -%}
            {%- do parts.append(part) -%}
        {%- else -%}
            {%- do parts.append(time.strftime(part[15:-1] or default)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(parts | join('')) }}
{%- endmacro -%}
