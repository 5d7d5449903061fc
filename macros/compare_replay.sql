{#- Says how the draft of a replay differs from what readers see: for each date the rows of history before and after, and how many of them
    differ; and how many rows of the current state do. Nothing is written.
        dbt run-operation spark_cdc.compare_replay --args '{entities: [orders]}'
    Arguments: entities (list of names, or one; none for all that have a draft). Returns nothing: the text is logged. -#}
{%- macro compare_replay(entities=none) -%}
    {%- do spark_cdc._check_arguments('compare_replay', {'entities': entities}) -%}
    {%- do spark_cdc._read_despite_damage() -%}  {#- a replay may be the repair of files that can't be read -#}
    {%- for found in spark_cdc._drafted_captures('compare_replay', entities) -%}
        {%- if not found.draft.existed -%}
            {%- do log(found.entity.name ~ ': has no draft of a replay', info=true) -%}
        {%- else -%}
            {%- set head = spark_cdc._head(found) -%}
            {%- set problem = spark_cdc._draft_problem(found, head) -%}
            {%- set history = spark_cdc._query(spark_cdc._compare_draft_history_sql(found)) -%}
            {%- set state = spark_cdc._query(spark_cdc._compare_draft_state_sql(found, head))[0] -%}
            {%- do log(spark_cdc._compare_draft_text(found, head, history, state) ~ ('\n  ' ~ problem if problem else ''), info=true) -%}
            {%- do spark_cdc._note_unread_rejects(found, found.draft.loads | reject('in', head.loads) | list) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}
