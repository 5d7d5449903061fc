{#- The model cdc_loads: one row per entity and load, for people and audits. Loads add their rows themselves; the
    model makes sure that the table is there. Returns its columns as a query without rows. -#}
{%- macro load_log() -%}
    {{- config(materialized='cdc_load_log') -}}
select
    {%- for name, data_type in spark_cdc._load_log_columns().items() %}
    cast(null as {{ data_type }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
where false
{%- endmacro -%}
