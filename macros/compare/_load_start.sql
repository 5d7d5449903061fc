{#- When a load begins, as a literal of the type of eff_start_date. -#}
{%- macro _load_start(run) -%}{{ return(run.entity.eff_type ~ "'" ~ run.load.business_time ~ "'") }}{%- endmacro -%}
