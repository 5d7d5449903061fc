{#- The partition of a load's rows; the operation follows it. -#}
{%- macro _partition(load) -%}
date'{{ load.business_time[:10] }}' as business_date,
'{{ load.load_id }}' as load_id
{%- endmacro -%}
