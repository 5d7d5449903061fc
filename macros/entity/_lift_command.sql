{#- The command that loads in spite of some guards. -#}
{%- macro _lift_command(entity, load, guards) -%}
    {%- if load.get('backfill') -%}
        {{ return('spark-cdc backfill ' ~ load.backfill ~ ' --select ' ~ entity.name ~ ' --lift ' ~ entity.name ~ '.' ~ guards | join(' ' ~ entity.name ~ '.')) }}
    {%- endif -%}
    dbt run --select {{ spark_cdc._load_selector(entity) }} --vars '{business_date: {{ load.business_time }}, spark_cdc_lift: [
    {%- for guard in guards %}{{ entity.name }}.{{ guard }}{{ '' if loop.last else ', ' }}{% endfor -%}
    ]{{ spark_cdc._replay_text() }}}'
{%- endmacro -%}
