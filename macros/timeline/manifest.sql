{#- The manifest in the text of a view, as _read_manifest() has it. -#}
{%- macro _parse_manifest(text, view) -%}
    {%- set stored = fromjson(text.partition('/* spark_cdc manifest: ')[2].partition(' */')[0]) -%}
    {%- if not stored -%}
        {%- set message -%}
spark_cdc: the view {{ view }} exists but is no manifest of spark_cdc: somebody replaced it. Nothing was written. Put its former text {# -#}
back (its loads are the load_id partitions of the ledger), or rename the entity.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- set loads = text.partition('load_id in (\n')[2].partition(')')[0].replace("'", '').split(',') | map('trim') | select | list -%}
    {{ return(spark_cdc._timeline_of(stored, loads)) }}
{%- endmacro -%}


{#- The manifest that readers see: which loads count. It is the text of the view
    <entity>_committed, read anew at each call, and nothing else. Loads build on the last commit,
    which may not be visible yet: see _current_timeline(). Argument: committed (relation of the
    view). Returns a dictionary as of _timeline(); without the view an empty manifest. -#}
{%- macro _read_manifest(committed) -%}
    {{ return(spark_cdc._parse_manifest(spark_cdc._view_text(committed), committed) if spark_cdc._is_listed(committed) else spark_cdc._empty_manifest()) }}
{%- endmacro -%}


{#- An entity with the columns that its loads have added (on_unexpected_column: add). Arguments:
    name, node (stg_<name>), schema (of its ledger). -#}
{%- macro _entity_as_loaded(name, node, schema) -%}
    {%- if not spark_cdc._adds_columns(node) -%}{{ return(spark_cdc._described_entity(name, node)) }}{%- endif -%}
    {%- set manifest = spark_cdc._read_manifest(spark_cdc._relation_in(schema, name ~ '_committed')) -%}
    {{ return(spark_cdc._entity_with(name, node, manifest.added)) }}
{%- endmacro -%}


{#- The text of a manifest's view (see _committed_sql()). One that is too long is refused. -#}
{%- macro _manifest_text(ctx, manifest) -%}
    {%- set text = spark_cdc._committed_sql(ctx.entity, ctx.public, manifest) -%}
    {%- set excess = spark_cdc._manifest_text_excess(ctx.entity, text) -%}
    {%- if excess -%}{%- do exceptions.raise_compiler_error(excess) -%}{%- endif -%}
    {{ return(text) }}
{%- endmacro -%}


{#- Why a manifest's text is too long, if it is: a Derby metastore keeps at most 32,700
    characters. Returns a text or none. -#}
{%- macro _manifest_text_excess(entity, text) -%}
    {%- set limit = spark_cdc._var('spark_cdc_manifest_limit') -%}
    {%- if text | length <= limit -%}{{ return(none) }}{%- endif -%}
    {%- if text.split('load_id in (')[0] | length > limit -%}  {#- with no load at all #}
        {%- set message -%}
{{ entity.name }}: the view {{ entity.name }}_committed would have {{ text | length }} characters; accepted are {{ limit }}, what a Derby metastore {# -#}
holds. The names of its {{ entity.stored | length }} columns alone take too many. Nothing was committed. Where the metastore holds longer texts, as a {# -#}
new one of spark-cdc server start does, raise the var spark_cdc_manifest_limit; else load fewer columns, or in two entities.
        {%- endset -%}
        {{ return(message) }}
    {%- endif -%}
    {%- set message -%}
{{ entity.name }}: the manifest would have {{ text | length }} characters; accepted are {{ limit }}, what a Derby metastore holds. Nothing {# -#}
was committed. Where the metastore holds longer texts, raise the var spark_cdc_manifest_limit; else merge older loads, which changes no {# -#}
view, and run the same command again:
  spark-cdc compact --select {{ entity.name }} --older-than 1
    {%- endset -%}
    {{ return(message) }}
{%- endmacro -%}


{#- The manifest in dbt's cache: what readers saw when this run looked at the catalogue, or what
    it has committed or read since. None where dbt knows of no such view, or not its text.
    Argument: committed (relation of the view). -#}
{%- macro _cached_manifest(committed) -%}
    {%- set cached = spark_cdc._known(committed) -%}
    {%- set text = spark_cdc._view_text_in(cached.information) if cached is not none else '' -%}
    {{ return(spark_cdc._parse_manifest(text, committed) if 'spark_cdc manifest:' in text else none) }}
{%- endmacro -%}


{#- Lets readers see a manifest, and dbt's cache know it. Arguments: ctx, text (of
    _manifest_text()), exists (whether the view is there). -#}
{%- macro _show_manifest(ctx, text, exists) -%}
    {%- do spark_cdc._send(spark_cdc._replace_view_sql(ctx.committed, text, exists)) -%}
    {%- do spark_cdc._cache_view_text(ctx.committed, text) -%}
{%- endmacro -%}


{#- How many rows a state has (rows), and how many were written since its checkpoint (log_rows),
    told from the rows per load and operation.
    Arguments: rows (of _load_counts()), base (checkpoint, or none), log (loads since). -#}
{%- macro _figures_of_state(rows, base, log) -%}
    {%- set at = namespace(rows=0, log_rows=0) -%}
    {%- for operation, count in rows.get(base, {}).items() if operation in spark_cdc._operations('existing') -%}
        {%- set at.rows = at.rows + count -%}
    {%- endfor -%}
    {%- for load_id in log -%}
        {%- for operation, count in rows.get(load_id, {}).items() if operation in spark_cdc._operations('visible') -%}
            {%- set at.rows = at.rows + {'I': 1, 'D': -1}.get(operation, 0) * count -%}
            {%- set at.log_rows = at.log_rows + count -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return({'rows': at.rows, 'log_rows': at.log_rows}) }}
{%- endmacro -%}


{#- What a load came to. Arguments: load_id, written (operation to rows), rows_prior (that
    existed before it), record (of the load; of change events it says how many came in). Returns
    a dictionary: counts (operation to rows, with the N and X that are not written), rows_in,
    rows_prior, rows_current, record. -#}
{%- macro _figures_of_load(load_id, written, rows_prior, record) -%}
    {%- set kind = spark_cdc._load_kind(load_id) -%}
    {%- set counts = dict(dict.fromkeys('IUDNXRT', 0), **written) -%}
    {%- if kind.is_history -%}  {#- the changes of several loads, in which a key may come often -#}
        {%- set rows_in = counts.I + counts.U + counts.D -%}
    {%- elif kind.is_full -%}
        {%- set counts = dict(counts, N=rows_prior - counts.U - counts.D - counts.X) -%}
        {%- set rows_in = counts.I + counts.U + counts.N + counts.R -%}
    {%- else -%}
        {%- set counts = dict(counts, X=rows_prior - counts.U - counts.N - counts.D) -%}
        {%- set rows_in = counts.I + counts.U + counts.N + counts.R + counts.D + counts['T'] -%}
    {%- endif -%}
    {{ return({
        'counts': counts,
        'rows_in': spark_cdc._figures_of_events(load_id, record) if record.get('events') else rows_in,
        'rows_prior': rows_prior,
        'rows_current': rows_prior + counts.I - counts.D,
        'record': record,
    }) }}
{%- endmacro -%}


{#- How many events came in, or rows of a snapshot among them, which is one event more: see
    _events_full_snapshot(). -#}
{%- macro _figures_of_events(load_id, record) -%}
    {{ return(record.events.event_count - (1 if spark_cdc._load_kind(load_id).is_snapshot else 0)) }}
{%- endmacro -%}


{#- The manifests that are kept: a dictionary from the number of the commit to the manifest, with
    kept_at (UTC, when the next one took its place) and text. -#}
{%- macro _retained_versions(ctx) -%}
    {%- set kept = {} -%}
    {%- for number in spark_cdc._numbers_beside(ctx, 'version') -%}
        {%- set view = spark_cdc._beside(ctx, 'version', number) -%}
        {%- set text = spark_cdc._view_text(view) -%}
        {%- do kept.update({number: dict(spark_cdc._parse_manifest(text, view), text=text)}) -%}
    {%- endfor -%}
    {{ return(kept) }}
{%- endmacro -%}


{#- Gives dbt's cache the text that a view has by now, in the form that _view_text_in() reads.
    Operations begin without a cache, and a relation that is added to an empty one would pass for
    all that there is. -#}
{%- macro _cache_view_text(view, text) -%}
    {%- if spark_cdc._mode() != 'load' -%}{{ return('') }}{%- endif -%}
    {%- do spark_cdc._note_relation(view, 'view', 'View Text: ' ~ text ~ '\nView Original Text: ') -%}
{%- endmacro -%}


{#- The text of the view <entity>_committed: the ledger's rows that count, and so the manifest.
    Loads stand in it as literals, so that Spark reads the partitions it needs and no others. By the
    records of loads (L) readers of rejects and of archived events know which count.
    Arguments: entity, ledger (relation), manifest (as of _timeline()).
    Returns a query: the ledger's columns under their declared names (see _layout()) without
    cdc__note, in_checkpoint (row of the newest checkpoint), since_checkpoint (row of a load since),
    in_last_load, default_operation (the operation of a key that the last load did not touch),
    compacted_load_ids (of the record of a history: the loads that compact merged into it), and of
    change feeds load_record (the record of a load, as JSON) and recommitted (see
    _timeline_recommitted()). -#}
{%- macro _committed_sql(entity, ledger, manifest) -%}
{%- set state = spark_cdc._state_loads(manifest.loads) -%}
{%- set last = manifest.loads[-1] if manifest.loads else none -%}
{%- set layout = manifest.layout -%}
select
    /* spark_cdc manifest: {{ spark_cdc._comment_json(spark_cdc._timeline_stored(manifest)) }} */
    {% for column in spark_cdc._ledger_columns(entity) if column.name != 'cdc__note' -%}
    {{ spark_cdc._shown_sql(entity, column, layout) if layout else column.sql }},
    {% endfor -%}
    {{ spark_cdc._in_loads([state.base]) if state.base else 'false' }} as in_checkpoint,
    {{ spark_cdc._in_loads(state.log) if state.log else 'false' }} as since_checkpoint,
    {{ spark_cdc._in_loads([last]) if last else 'false' }} as in_last_load,
    '{{ 'N' if last and spark_cdc._load_kind(last).is_full else 'X' }}' as default_operation,
    if(operation = 'L', from_json(cdc__note, 'compacted array<string>').compacted, null) as compacted_load_ids,
    if(operation = 'L', cdc__note, null) as load_record,
    {{ spark_cdc._literal(tojson(spark_cdc._timeline_recommitted(manifest), sort_keys=true)) }} as recommitted
    {%- for name, place in (layout.get('shown') or {}).items() %},
    {{ spark_cdc._aliased(spark_cdc._place_sql(place), spark_cdc._quote(name)) }}
    {%- endfor %}
from {{ ledger }}
where
    operation in {{ spark_cdc._operations('committed') }}
    {%- if manifest.loads %}
    and load_id in (
        {%- for some in manifest.loads | batch(4) %}
        '{{ some | join("', '") }}'{{ ',' if not loop.last }}
        {%- endfor %}
    )
    {%- else %}
    and false
    {%- endif %}
{%- endmacro -%}
