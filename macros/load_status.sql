{#- What is committed, and which drafts of replays there are, for people and for spark-cdc: prints a line of JSON behind
    `spark_cdc status: `. Nothing is written.
        dbt run-operation spark_cdc.load_status --args '{entities: [orders]}'
    Arguments: entities (list of names, or one; none for all). Returns nothing. -#}
{%- macro load_status(entities=none) -%}
    {%- set listed = [] -%}
    {%- for known in spark_cdc._named_entities('load_status', entities) -%}
        {%- set entity = known.entity -%}
        {%- set head = spark_cdc._published(known.committed, spark_cdc._views_of(known.committed, entity.name)) -%}
        {%- set draft = spark_cdc._read_draft(known.committed, entity.name) -%}
        {%- set loads = spark_cdc._loads_by_date(known.ledger, head.loads) -%}
        {%- set status = {
            'entity': entity.name,
            'load_type': entity.load_type,
            'per': 'date' if entity.eff_type == 'date' else 'timestamp',
            'has_archive': (entity.events or {}).get('archive') or false,
            'times': spark_cdc._times_of(entity, loads),
            'rows': head.rows,
            'last_load': head.loads[-1] if head.loads else none,
            'commit': head.sequence,
            'draft': none,
        } -%}
        {%- if draft.existed -%}
            {%- do status.update({'draft': {
                'from': draft.replay['from'],
                'source': draft.replay.source,
                'times': spark_cdc._times_of_draft(entity, draft),
                'rows': draft.rows,
                'outdated': spark_cdc._outdated(draft, head),
                'missing': spark_cdc._missing_times(entity, draft, loads),
            }}) -%}
        {%- endif -%}
        {%- do listed.append(status) -%}
    {%- endfor -%}
    {%- do print('spark_cdc status: ' ~ tojson(listed)) -%}
{%- endmacro -%}
