{#- The manifest that a run builds on: the last commit's, or in a replay that of the draft, to which the loads of a replay are added
    out of readers' sight. The draft is the text of the view <entity>_replay, in the form of <entity>_committed; `replay` in its figures
    says what it is a draft of. It begins as the last commit's manifest, cut before the first date of the replay, and so again if the loads
    that it would take the place of are no longer the same.
    Arguments: entity, committed (relation of the view), time (business time of the load at hand). Returns a dictionary as of
    _read_manifest(); of a draft also replay {from, source, head: number and fingerprint of the committed loads it was made from} and
    head_loads (those loads, the ones that compact squashed by their own names). -#}
{%- macro _manifest_of_run(entity, committed, time) -%}
    {%- set head = spark_cdc._head(committed, entity.name) -%}
    {%- set replay = spark_cdc._replay() -%}
    {%- if replay is none -%}
        {{ return(head) }}
    {%- endif -%}
    {%- if not head.loads -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': nothing is committed yet, so there is nothing to replay. Load the dates in order without spark_cdc_replay '
            ~ '(spark-cdc load). Nothing was written.'
        ) %}
    {%- endif -%}
    {%- set ledger = spark_cdc._relation_in(committed.schema, entity.name ~ '_ledger') -%}
    {%- set first = spark_cdc._time_text(entity, replay['from']) -%}
    {%- set draft = spark_cdc._read_draft(committed, entity.name) -%}
    {%- set outdated = spark_cdc._outdated(draft, head) -%}
    {%- set existed = draft.existed -%}
    {%- if not existed or outdated or draft.replay['from'] != first or draft.replay.source != replay.source -%}
        {%- if existed -%}
            {%- do log(entity.name ~ ': the draft of a replay is begun anew: ' ~ (outdated or 'it was one from ' ~ draft.replay['from'] ~ ', of the '
                ~ draft.replay.source), info=true) -%}
        {%- endif -%}
        {%- set draft = spark_cdc._cut_manifest(entity, ledger, head, replay['from']) -%}
    {%- endif -%}
    {%- if draft.loads and spark_cdc._load_time(draft.loads[-1]) > time -%}
        {%- set draft = spark_cdc._cut_manifest(entity, ledger, draft, time) -%}
    {%- endif -%}
    {%- do draft.update({
        'existed': existed,
        'replay': {'from': first, 'source': replay.source, 'head': [head.loads | length, spark_cdc._loads_fingerprint(head.loads)]},
        'head_loads': spark_cdc._loads_by_date(ledger, head.loads),
    }) -%}
    {{ return(draft) }}
{%- endmacro -%}
