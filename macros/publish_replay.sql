{#- Makes the draft of a replay visible: one commit per entity, after which readers see the new state, and cdc_loads gets a row for each
    of its loads. Drafts that lack a date, or were made from loads that somebody else has replaced since, are refused, before any is
    published.
        dbt run-operation spark_cdc.publish_replay --args '{entities: [orders]}'
    Arguments: entities (list of names, or one; none for all that have a draft). Returns nothing. -#}
{%- macro publish_replay(entities=none) -%}
    {%- do spark_cdc._check_arguments('publish_replay', {'entities': entities}) -%}
    {%- set drafted = [] -%}
    {%- set problems = [] -%}
    {%- for found in spark_cdc._drafted_captures('publish_replay', entities) -%}
        {%- set head = spark_cdc._head(found) -%}
        {%- set problem = spark_cdc._draft_problem(found, head) -%}
        {%- do problems.append(problem) if problem else drafted.append((found, head)) -%}
    {%- endfor -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error(problems | join('\n') ~ '\nNothing was published and readers see what they saw before.') -%}
    {%- endif -%}
    {%- for found, head in drafted -%}
        {%- do spark_cdc._publish_draft(found, head) -%}
    {%- endfor -%}
{%- endmacro -%}
