{#- The manifest that a run builds on: the last commit's, or in a replay that of the draft, to which the loads of a replay are added
    out of readers' sight (see _read_draft()). A draft begins as the last commit's manifest, cut before the first date of the replay, and so
    again if the loads that it would take the place of are no longer the same.
    Arguments: capture, time (business time of the load at hand), is_planned (see _head()). Returns a dictionary as of _read_manifest(); of a draft also replay and
    head_loads (the loads that it was made from, the ones that compact squashed by their own names). -#}
{%- macro _manifest_of_run(capture, time, is_planned=false) -%}
    {%- set entity = capture.entity -%}
    {%- set head = spark_cdc._head(capture, is_planned) -%}
    {%- set replay = spark_cdc._replay() -%}
    {%- if replay is none -%}
        {{ return(head) }}
    {%- endif -%}
    {%- if not head.loads -%}
        {%- set message -%}
{{ entity.name }}: nothing is committed yet, so there is nothing to replay. Load the dates in order without spark_cdc_replay {# -#}
(spark-cdc load). Nothing was written.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- set first = spark_cdc._time_text(entity, replay['from']) -%}
    {%- set found = spark_cdc._read_draft(capture) -%}
    {%- set outdated = spark_cdc._draft_outdated(found, head) -%}
    {%- set draft = found -%}
    {%- if not found.existed or outdated or found.replay['from'] != first or found.replay.source != replay.source -%}
        {%- if found.existed -%}
            {%- set reason = outdated or 'it was one from ' ~ found.replay['from'] ~ ', of the ' ~ found.replay.source -%}
            {%- do log(entity.name ~ ': the draft of a replay is begun anew: ' ~ reason, info=true) -%}
        {%- endif -%}
        {%- set draft = spark_cdc._cut_manifest(capture, head, replay['from']) -%}
    {%- endif -%}
    {%- if draft.loads and spark_cdc._load_time(draft.loads[-1]) > time -%}
        {%- set draft = spark_cdc._cut_manifest(capture, draft, time) -%}
    {%- endif -%}
    {{ return(dict(
        draft,
        existed=found.existed,
        replay={'from': first, 'source': replay.source, 'head': spark_cdc._draft_origin(head.loads)},
        head_loads=spark_cdc._loads_by_date(capture.masked, head.loads),
    )) }}
{%- endmacro -%}
