{#- Makes the draft of a replay visible: one commit per entity, after which readers see the new state, and cdc_loads gets a row for each
    of its loads. Drafts that lack a date, or were made from loads that somebody else has replaced since, are refused, before any is
    published.
        dbt run-operation spark_cdc.publish_replay --args '{entities: [orders]}'
    Arguments: entities (list of names, or one; none for all that have a draft). Returns nothing. -#}
{%- macro publish_replay(entities=none) -%}
    {%- set drafted = [] -%}
    {%- set problems = [] -%}
    {%- for found in spark_cdc._drafted_entities('publish_replay', entities) -%}
        {%- set head = spark_cdc._head(found.committed, found.entity.name) -%}
        {%- set problem = spark_cdc._draft_problem(found, head) -%}
        {%- if problem -%}
            {%- do problems.append(problem) -%}
        {%- else -%}
            {%- do drafted.append(dict(found, head=head)) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if problems -%}
        {% do exceptions.raise_compiler_error(
            problems | join('\n') ~ '\nNothing was published and readers see what they saw before.'
        ) %}
    {%- endif -%}
    {%- for found in drafted -%}
        {%- do spark_cdc._publish_draft(found) -%}
    {%- endfor -%}
{%- endmacro -%}


{%- macro _publish_draft(found) -%}
    {%- set name = found.entity.name -%}
    {%- set load_log = ref('spark_cdc', 'cdc_loads') -%}
    {%- set manifest = dict(found.draft, sequence=found.head.sequence + 1, commit=local_md5(invocation_id)[:8]) -%}
    {%- set replay = manifest.pop('replay') -%}
    {%- do spark_cdc._ensure_load_log(load_log) -%}
    {%- do spark_cdc.record_missing_loads(load_log, found.entity, found.ledger, found.head) -%}
    {%- if manifest.loads != found.head.loads -%}  {#- else it was published by a run that ended before it dropped the draft -#}
        {%- set text = spark_cdc.committed_sql(found.entity, found.ledger, manifest) -%}
        {%- do spark_cdc._check_manifest_size(found.entity, text) -%}
        {%- do spark_cdc.publish(name, found.committed, text, manifest, 'the replay from ' ~ replay['from']) -%}
        {%- set times = spark_cdc._times_of_draft(found.entity, found.draft) -%}
        {%- do log(
            name ~ ': published the replay from ' ~ replay['from'] ~ ': ' ~ spark_cdc._counted(times | length, 'load')
            ~ ' up to ' ~ times[-1] ~ '; ' ~ manifest.rows ~ ' rows now', info=true
        ) -%}
    {%- endif -%}
    {%- do spark_cdc.record_missing_loads(load_log, found.entity, found.ledger, manifest, now=true) -%}
    {%- do run_query('drop view if exists ' ~ found.replay) -%}
{%- endmacro -%}


{#- Why a draft can't be published, with what to do; an empty text if it can. -#}
{%- macro _draft_problem(found, head) -%}
    {%- set name = found.entity.name -%}
    {%- if not found.draft.existed -%}
        {{ return(name ~ ': there is no draft of a replay. Begin one: spark-cdc replay --from DATE --select ' ~ name ~ ', or dbt run --select ' ~ name
            ~ "_ledger+ --vars '{business_date: DATE, spark_cdc_replay: {from: DATE}}' for each date in order.") }}
    {%- elif found.draft.loads == head.loads -%}
        {{ return('') }}
    {%- endif -%}
    {%- set first = found.draft.replay['from'] -%}
    {%- set quoted = '"' ~ first ~ '"' if ' ' in first else first -%}
    {%- set outdated = spark_cdc._outdated(found.draft, head) -%}
    {%- set missing = spark_cdc._missing_times(found.entity, found.draft, spark_cdc._loads_by_date(found.ledger, head.loads)) -%}
    {%- if outdated -%}
        {{ return(name ~ ': the draft of the replay from ' ~ first ~ ' is out of date: ' ~ outdated ~ '. Publishing it would undo that. Run the replay '
            ~ 'again, it begins anew: spark-cdc replay --from ' ~ quoted ~ ' --select ' ~ name ~ ', or dbt run of each date in order with '
            ~ 'spark_cdc_replay.') }}
    {%- elif missing -%}
        {{ return(name ~ ': the draft of the replay from ' ~ first ~ ' lacks ' ~ spark_cdc._counted(missing | length, 'date')
            ~ ' that it would take the place of: ' ~ missing[:10] | join(', ') ~ (' and so on' if missing | length > 10 else '')
            ~ '. Load them into it in order, then publish: spark-cdc replay --from ' ~ quoted ~ ' --select ' ~ name ~ ', or dbt run --select ' ~ name
            ~ "_ledger+ --vars '{business_date: " ~ ('"' ~ missing[0] ~ '"' if ' ' in missing[0] else missing[0]) ~ ', spark_cdc_replay: {from: '
            ~ quoted ~ "}}' and so on.") }}
    {%- endif -%}
    {{ return('') }}
{%- endmacro -%}


{#- The business times of the draft's own loads, in order. -#}
{%- macro _times_of_draft(entity, draft) -%}
    {{ return(spark_cdc._times_of(entity, spark_cdc._loads_from(draft.loads, draft.replay['from']))) }}
{%- endmacro -%}


{#- Business times that are committed from the replay's first date on, and that its draft lacks. -#}
{%- macro _missing_times(entity, draft, head_loads) -%}
    {{ return(
        spark_cdc._times_of(entity, spark_cdc._loads_from(head_loads, draft.replay['from']))
        | reject('in', spark_cdc._times_of_draft(entity, draft)) | list
    ) }}
{%- endmacro -%}


{#- The loads of a list from a business time on. -#}
{%- macro _loads_from(loads, first) -%}
    {%- set start = spark_cdc.business_time(first) -%}
    {%- set found = [] -%}
    {%- for load_id in loads if spark_cdc._load_time(load_id) >= start -%}{%- do found.append(load_id) -%}{%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- The entities that an operation on drafts is about: those named, or all that have a draft. Returns a list of dictionaries: entity,
    ledger, committed, replay (relations), draft (manifest, or an empty one). -#}
{%- macro _drafted_entities(operation, names) -%}
    {%- set found = [] -%}
    {%- for known in spark_cdc._named_entities(operation, names) -%}
        {%- set draft = spark_cdc._read_draft(known.committed, known.entity.name) -%}
        {%- if draft.existed or names -%}
            {%- do found.append(dict(
                known, draft=draft, replay=spark_cdc._relation_in(known.committed.schema, known.entity.name ~ '_replay'))) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not found -%}
        {% do exceptions.raise_compiler_error(
            'spark_cdc.' ~ operation ~ ': no entity has a draft of a replay. Begin one: spark-cdc replay --from DATE. Nothing was changed.'
        ) %}
    {%- endif -%}
    {{ return(found) }}
{%- endmacro -%}
