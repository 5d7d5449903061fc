{#- What is committed, and which drafts of replays there are, for people and for spark-cdc: prints a line of JSON behind
    `spark_cdc status: `. Nothing is written.
        dbt run-operation spark_cdc.load_status --args '{entities: [orders]}'
    Arguments: entities (list of names, or one; none for all). Returns nothing. -#}
{%- macro load_status(entities=none) -%}
    {%- do spark_cdc._check_arguments('load_status', {'entities': entities}) -%}
    {%- set listed = [] -%}
    {%- for capture in spark_cdc._captures('load_status', entities) -%}
        {%- set entity = capture.entity -%}
        {#- the schema is made by the first run -#}
        {%- set is_begun = adapter.check_schema_exists(target.database, capture.schema) -%}
        {%- set head = spark_cdc._published(capture) if is_begun else spark_cdc._empty_manifest() -%}
        {%- set draft = spark_cdc._read_draft(capture) if is_begun else spark_cdc._empty_manifest() -%}
        {%- set loads = spark_cdc._loads_by_date(capture.masked, head.loads) -%}
        {%- do listed.append({
            'entity': entity.name,
            'load_type': entity.declared_load_type,
            'per': 'date' if entity.eff_type == 'date' else 'timestamp',
            'has_archive': (entity.events or {}).get('archive') or false,
            'reads_feed': entity.source.format == 'change_feed',
            'times': spark_cdc._load_times(entity, loads),
            'load_types': spark_cdc._load_types_of_names(loads),
            'rows': head.rows,
            'last_load': head.loads[-1] if head.loads else none,
            'commit': head.sequence,
            'undone': spark_cdc._load_times(entity, head.get('undone', []) | map(attribute='loads') | sum(start=[])),
            'draft': {
                'from': draft.replay['from'],
                'source': draft.replay.source,
                'times': spark_cdc._draft_times(entity, draft),
                'rows': draft.rows,
                'outdated': spark_cdc._draft_outdated(draft, head),
                'missing': spark_cdc._draft_missing_times(entity, draft, loads),
            } if draft.existed else none,
        }) -%}
    {%- endfor -%}
    {%- do print('spark_cdc status: ' ~ tojson(listed)) -%}
{%- endmacro -%}
