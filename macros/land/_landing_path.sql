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
