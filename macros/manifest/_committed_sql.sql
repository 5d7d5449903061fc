{#- The text of the view <entity>_committed: the ledger's rows that count, and so the manifest. Loads stand in it as literals, so that Spark
    reads the partitions it needs and no others. By the records of loads (L) readers of rejects and of archived events know which count.
    Arguments: entity, ledger (relation), manifest (dictionary as of _read_manifest()). Returns a query: the ledger's
    columns under their declared names (see _layout()) without note, in_base (row of the newest checkpoint), in_log (row of a load
    since), in_last_load, carried_operation (the operation of a key that the last load did not touch), squashed_load_ids (of the record of a
    history: the loads that compact squashed into it), and of change feeds load_record (the record of a load, as JSON) and recommitted (see
    _versioned_manifest()). -#}
{%- macro _committed_sql(entity, ledger, manifest) -%}
{%- set state = spark_cdc._state_loads(manifest.loads) -%}
{%- set last = manifest.loads[-1] if manifest.loads else none -%}
{%- set layout = manifest.get('layout') or {} -%}
{#- the comment lacks the loads, which the text names anyway, and what only a run knows -#}
{%- set figures = manifest.items() | rejectattr(0, 'in', ['loads', 'existed', 'head_loads'] + ([] if layout else ['layout'])) -%}
select
    /* spark_cdc manifest: {{ spark_cdc._comment_json(dict(figures)) }} */
    {% for column in spark_cdc._ledger_columns(entity) if column.name != 'note' -%}
    {{ spark_cdc._shown_sql(entity, column, layout) }},
    {% endfor -%}
    {{ spark_cdc._in_loads([state.base]) if state.base else 'false' }} as in_base,
    {{ spark_cdc._in_loads(state.log) if state.log else 'false' }} as in_log,
    {{ spark_cdc._in_loads([last]) if last else 'false' }} as in_last_load,
    '{{ 'N' if last and spark_cdc._load_kind(last).is_full else 'X' }}' as carried_operation,
    if(operation = 'L', from_json(note, 'squashed array<string>').squashed, null) as squashed_load_ids,
    if(operation = 'L', note, null) as load_record,
    {{ spark_cdc._literal(tojson(manifest.get('recommitted') or [], sort_keys=true)) }} as recommitted
    {%- for name, place in (layout.get('shown') or {}).items() %},
    {{ spark_cdc._aliased(spark_cdc._place_sql(place), spark_cdc._quote(name)) }}
    {%- endfor %}
from {{ ledger }}
where
    operation in {{ spark_cdc._operations('committed') }}
    {%- if manifest.loads %}
    and load_id in (
        '{{ manifest.loads | join("',\n        '") }}'
    )
    {%- else %}
    and false
    {%- endif %}
{%- endmacro -%}
