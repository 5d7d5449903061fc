{#- Business times that are committed from the replay's first date on, and that its draft lacks. -#}
{%- macro _missing_times(entity, draft, head_loads) -%}
    {{ return(
        spark_cdc._times_of(entity, spark_cdc._loads_from(head_loads, draft.replay['from']))
        | reject('in', spark_cdc._times_of_draft(entity, draft)) | list
    ) }}
{%- endmacro -%}
