{#- When a load begins, as a literal. -#}
{%- macro _load_start(entity, load) -%}
    {{ return(entity.eff_type ~ "'" ~ load.business_time ~ "'") }}
{%- endmacro -%}
