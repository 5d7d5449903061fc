{#- The folder of a business date: {business_date} in the path becomes 2019-06-19 (2019-06-19T001500 where loads
    are finer than a day), {business_date:%Y/%m/%d} whatever strftime makes of it. -#}
{%- macro _landing_path(entity, time) -%}
{%- set default = '%Y-%m-%d' if entity.eff_type == 'date' else '%Y-%m-%dT%H%M%S' -%}
{%- for part in modules.re.split('([{]business_date(?::[^{}]*)?[}])', entity.source.path) -%}
{{ part if loop.index is odd else time.strftime(part[15:-1] or default) }}
{%- endfor -%}
{%- endmacro -%}
