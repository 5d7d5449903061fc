{#- Loads that compact has squashed are listed by their own names, in the place of what stands for them. -#}
{%- macro _loads_by_date(ledger, loads) -%}
    {%- set records = spark_cdc._load_records(ledger, spark_cdc._loads_with(loads, 'is_history')) -%}
    {%- set listed = [] -%}
    {%- for load_id in loads -%}
        {%- set kind = spark_cdc._load_kind(load_id) -%}
        {%- do listed.extend(records[load_id].squashed if kind.is_history else [] if kind.is_squashed else [load_id]) -%}
    {%- endfor -%}
    {{ return(listed) }}
{%- endmacro -%}
