{#- The command that loads in spite of some guards. -#}
{%- macro _lift_command(entity, load, guards) -%}
    {%- set lifts = [] -%}
    {%- for guard in guards -%}{%- do lifts.append(entity.name ~ '.' ~ guard) -%}{%- endfor -%}
    {{ return(
        'dbt run --select ' ~ entity.name ~ ('_events+' if entity.events else '_ledger+') ~ " --vars '{business_date: "
        ~ load.business_time ~ ', spark_cdc_lift: [' ~ lifts | join(', ') ~ ']' ~ spark_cdc._replay_text() ~ "}'"
    ) }}
{%- endmacro -%}
