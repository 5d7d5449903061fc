{#- Says how the draft of a replay differs from what readers see: for each date the rows of history before and after, and how many of them
    differ; and how many rows of the current state do. Nothing is written.
        dbt run-operation spark_cdc.compare_replay --args '{entities: [orders]}'
    Arguments: entities (list of names, or one; none for all that have a draft). Returns nothing: the text is logged. -#}
{%- macro compare_replay(entities=none) -%}
    {%- for found in spark_cdc._drafted_entities('compare_replay', entities) -%}
        {%- set entity = found.entity -%}
        {%- if not found.draft.existed -%}
            {%- do log(entity.name ~ ': has no draft of a replay', info=true) -%}
        {%- else -%}
            {%- set head = spark_cdc._head(found.committed, entity.name) -%}
            {%- set problem = spark_cdc._draft_problem(found, head) -%}
            {%- do log(spark_cdc._comparison_text(
                found, head, spark_cdc._query(spark_cdc._history_difference_sql(found)),
                spark_cdc._query(spark_cdc._state_difference_sql(found, head))[0]
            ) ~ ('\n  ' ~ problem if problem else ''), info=true) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}
