{#- The business times of the draft's own loads, in order. -#}
{%- macro _times_of_draft(entity, draft) -%}
    {{ return(spark_cdc._times_of(entity, spark_cdc._loads_from(draft.loads, draft.replay['from']))) }}
{%- endmacro -%}
