{#- The command that loads in spite of some guards. -#}
{%- macro _lift_command(entity, load, guards) -%}
    {%- if load.get('backfill') -%}
        {{ return('spark-cdc backfill ' ~ load.backfill ~ ' --select ' ~ entity.name ~ ' --lift ' ~ entity.name ~ '.' ~ guards | join(' ' ~ entity.name ~ '.')) }}
    {%- endif -%}
    {{ return(spark_cdc._load_command(entity, load.business_time, lift=guards)) }}
{%- endmacro -%}
