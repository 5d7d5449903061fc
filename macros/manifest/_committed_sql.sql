{#- The text of the view <entity>_committed: the ledger's rows that count, and so the manifest. Loads stand in it as
    literals, so that Spark reads the partitions it needs and no others. The record of each load (L) is among its rows: by it
    readers of rejects and of the events' archive know which loads count.
    Arguments: entity, ledger (relation), manifest (dictionary as of _read_manifest()). Returns a query: the ledger's
    columns under their declared names (see _layout()) without note, in_base (row of the newest checkpoint), in_log (row of a load
    since), in_last_load, carried_operation (the operation of a key that the last load did not touch), and squashed_load_ids (of the record of a
    history: the loads that compact squashed into it). -#}
{%- macro _committed_sql(entity, ledger, manifest) -%}
{%- set state = spark_cdc._state_loads(manifest.loads) -%}
{%- set last = manifest.loads[-1] if manifest.loads else none -%}
{%- set layout = manifest.get('layout') or {} -%}
{%- set carried = 'N' if last and spark_cdc._load_kind(last).is_full else 'X' -%}
select
    /* spark_cdc manifest: {{ spark_cdc._comment_json(spark_cdc._manifest_figures(manifest)) }} */
    {% for column in spark_cdc._ledger_columns(entity) if column.name != 'note' -%}
    {{ spark_cdc._shown_sql(entity, column, layout) }},
    {% endfor -%}
    {{ spark_cdc._in_loads([state.base]) if state.base else 'false' }} as in_base,
    {{ spark_cdc._in_loads(state.log) if state.log else 'false' }} as in_log,
    {{ spark_cdc._in_loads([last]) if last else 'false' }} as in_last_load,
    '{{ carried }}' as carried_operation,
    if(operation = 'L', from_json(note, 'squashed array<string>').squashed, null) as squashed_load_ids
    {%- for name, place in (layout.get('shown') or {}).items() %},
    {{ spark_cdc._aliased(spark_cdc._place_sql(place), spark_cdc._quote(name)) }}
    {%- endfor %}
from {{ ledger }}
where
    operation in {{ spark_cdc._operations('committed') }}
    {%- if manifest.loads %}
    and load_id in (
        {%- for load_id in manifest.loads %}
        '{{ load_id }}'{{ ',' if not loop.last }}
        {%- endfor %}
    )
    {%- else %}
    and false
    {%- endif %}
{%- endmacro -%}


{#- What the comment in the view's text holds: the manifest without the loads, which the text names anyway, and without what only a run knows. -#}
{%- macro _manifest_figures(manifest) -%}
    {%- set figures = {} -%}
    {%- for name, value in manifest.items() if name not in ['loads', 'existed', 'head_loads'] and (name != 'layout' or value) -%}
        {%- do figures.update({name: value}) -%}
    {%- endfor -%}
    {{ return(figures) }}
{%- endmacro -%}
