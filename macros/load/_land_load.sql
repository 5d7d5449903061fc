{#- Makes what landed for a load readable; refuses the load where the columns of it are not the declared ones. -#}
{%- macro _land_load(entity, landing, time) -%}
    {%- set refusal = spark_cdc._land(entity, landing, time) -%}
    {%- if not refusal and entity.events -%}
        {%- set refusal = spark_cdc._check_event_columns(entity, spark_cdc._landing_input(entity, landing, time)) -%}
    {%- endif -%}
    {%- if refusal -%}
        {%- do spark_cdc._refuse_load(entity, refusal.guard, refusal.message) -%}
    {%- endif -%}
{%- endmacro -%}
