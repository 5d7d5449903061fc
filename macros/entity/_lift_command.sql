{#- The command that loads in spite of some guards. -#}
{%- macro _lift_command(entity, load, guards) -%}
    dbt run --select {{ spark_cdc._load_selector(entity) }} --vars '{business_date: {{ load.business_time }}, spark_cdc_lift: [
    {%- for guard in guards %}{{ entity.name }}.{{ guard }}{{ '' if loop.last else ', ' }}{% endfor -%}
    ]{{ spark_cdc._replay_text() }}}'
{%- endmacro -%}
