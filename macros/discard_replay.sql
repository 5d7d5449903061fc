{#- Drops the draft of a replay. What its loads wrote is named nowhere then, and costs disk until it is cleaned up.
        dbt run-operation spark_cdc.discard_replay --args '{entities: [orders]}'
    Arguments: entities (list of names, or one; none for all that have a draft). Returns nothing. -#}
{%- macro discard_replay(entities=none) -%}
    {%- do spark_cdc._check_arguments('discard_replay', {'entities': entities}) -%}
    {%- for found in spark_cdc._drafted_captures('discard_replay', entities) -%}
        {%- if found.draft.existed -%}
            {%- do spark_cdc._send('drop view if exists ' ~ found.replay) -%}
            {%- do log(found.entity.name ~ ': discarded the draft of the replay from ' ~ found.draft.replay['from'] ~ ' with '
                ~ (spark_cdc._draft_times(found.entity, found.draft) | length) ~ ' loads; readers saw none of it', info=true) -%}
        {%- else -%}
            {%- do log(found.entity.name ~ ': has no draft of a replay', info=true) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}
