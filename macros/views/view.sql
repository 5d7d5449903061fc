{#- A view that readers can hold on to: created if it is not there, altered (one metastore
    transaction) if its text differs, and left alone otherwise. What the text was made of is told
    from a fingerprint in it, which dbt's own look at the catalogue at the start of the run has
    brought along: no statement is sent for a view that stands. -#}
{% materialization cdc_view, adapter='spark' %}
    {%- set existing = spark_cdc._known(this) -%}
    {%- set fingerprint = 'spark_cdc view ' ~ local_md5(sql) -%}
    {{ run_hooks(pre_hooks) }}
    {%- set definition = (sql.split('/* columns of definition ')[1:] | first | default('')).split(' ')[0] -%}
    {%- set entity = spark_cdc._entity(spark_cdc._entity_name()) -%}
    {%- set is_behind = spark_cdc._behind_columns(entity, definition) -%}
    {%- if existing is not none and (fingerprint in (existing.information or '') or spark_cdc._replay() is not none or is_behind) -%}
        {%- do store_raw_result('main', message='UNCHANGED', code='UNCHANGED', rows_affected='-1') -%}
    {%- elif is_behind -%}
        {%- do exceptions.raise_compiler_error(is_behind ~ " so " ~ this ~ " can't be made with them yet. Load a business date, which applies the change: "
            ~ spark_cdc._load_command(entity, none)) -%}
    {%- else -%}
        {%- call statement('main') -%}
            {{ spark_cdc._replace_view_sql(this, spark_cdc._stamped_view_query(sql, fingerprint), existing is not none) }}
        {%- endcall -%}
    {%- endif -%}
    {%- do spark_cdc._apply_config() -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='view')]}) }}
{% endmaterialization %}


{#- A view's query with a comment in front of its columns, by which cdc_view tells what it was made
    of. -#}
{%- macro _stamped_view_query(sql, fingerprint) -%}
with
/* {{ fingerprint }} */
query_of_view as (
{{ sql }}
)

select * from query_of_view
{%- endmacro -%}


{#- A view's query, stamped with the definition of the columns: a view keeps its columns' types
    until it is altered, also if what it selects from has others by now. -#}
{%- macro _typed_view_query(sql, manifest) -%}
{{ sql }}
{%- if manifest.definition %}
/* columns of definition {{ manifest.definition }} */
{%- endif %}
{%- endmacro -%}


{#- Makes the model at hand a view of its entity as far as the loads in <entity>_committed count.
    A model whose name ends with _sensitive shows sensitive columns, and lies where they lie
    (docs/sensitive.md).
    query_of   macro of its query: of entity and rows that count, or of entity, table, committed
               and layout
    table      events or ledger: what the name of the table ends with that it reads
    reads      the same of the model from which it depends
    is_hinted  whether the query takes, too, whether the keys since the checkpoint are few
    Returns its SQL. -#}
{%- macro _view_query(query_of, table=none, reads=table, is_hinted=false) -%}
    {%- do config(materialized='cdc_view', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -%}
    {%- set name, is_sensitive = spark_cdc._entity_name(), spark_cdc._is_sensitive_model() -%}
    {%- set committed = spark_cdc._unsampled(ref(name ~ '_committed')) -%}
    {%- set relation = spark_cdc._unsampled(ref(name ~ '_' ~ (reads or 'committed' ~ ('_sensitive' if is_sensitive else '')))) -%}
    {#- the graph is not there at parse time -#}
    {%- if not execute -%}{{ return('') }}{%- endif -%}
    {#- The view's text depends on it, which cdc_view tells by what dbt's cache has; for commands
        that build nothing it is an empty one. -#}
    {%- set builds = flags.WHICH in ['run', 'build', 'retry', 'run-operation'] -%}
    {%- set manifest = spark_cdc._cached_manifest(committed) or spark_cdc._read_manifest(committed) if builds else spark_cdc._empty_manifest() -%}
    {%- set entity = spark_cdc._entity(name) -%}
    {%- if is_sensitive and table -%}{%- set relation = spark_cdc._context(entity, committed.schema)[table] -%}{%- endif -%}
    {%- if table -%}
        {%- set sql = query_of(entity, relation, committed, manifest.layout) -%}
    {%- elif is_hinted -%}
        {%- set sql = query_of(entity, relation, spark_cdc._is_few(entity, manifest.log_rows)) -%}
    {%- else -%}
        {%- set sql = query_of(entity, relation) -%}
    {%- endif -%}
    {{ return(spark_cdc._typed_view_query(sql, manifest)) }}
{%- endmacro -%}


{#- Whether the model at hand shows sensitive columns; if so, its schema is theirs. -#}
{%- macro _is_sensitive_model() -%}
    {%- set is_sensitive = model.unique_id.endswith('_sensitive') -%}
    {%- if is_sensitive -%}{%- do config(schema=spark_cdc._var('spark_cdc_sensitive_schema')) -%}{%- endif -%}
    {{ return(is_sensitive) }}
{%- endmacro -%}


{#- The text of the view <entity>_committed_sensitive: the rows that count with their sensitive
    columns. Which loads count it reads from the records of loads in <entity>_committed, so that one
    commit shows both; partitions are pruned by the join on load_id.
    Arguments: entity, ledger (relation with the values), committed (relation of
    <entity>_committed), layout (of the manifest).
    Returns a query with the columns of _committed_sql(). -#}
{%- macro _committed_sensitive_sql(entity, ledger, committed, layout={}) -%}
{%- set of_load = ['in_checkpoint', 'since_checkpoint', 'in_last_load', 'default_operation', 'compacted_load_ids', 'load_record', 'recommitted'] -%}
{%- set stored = spark_cdc._ledger_columns(entity) | rejectattr('name', 'equalto', 'cdc__note') | list -%}
{%- set shown = layout.get('shown') or {} -%}
select /*+ broadcast(counted) */
    {% for column in stored -%}
    loaded.{{ column.sql }},
    {% endfor -%}
    counted.in_checkpoint,
    counted.since_checkpoint,
    counted.in_last_load,
    counted.default_operation,
    if(loaded.operation = 'L', counted.compacted_load_ids, null) as compacted_load_ids,
    if(loaded.operation = 'L', counted.load_record, null) as load_record,
    counted.recommitted
    {%- for name in shown %},
    loaded.{{ spark_cdc._quote(name) }}
    {%- endfor %}
from (
    select
        {%- for column in stored %}
        {{ spark_cdc._shown_sql(entity, column, layout) | indent(8) }}{{ ',' if shown or not loop.last }}
        {%- endfor %}
        {%- for name, place in shown.items() %}
        {{ spark_cdc._aliased(spark_cdc._place_sql(place), spark_cdc._quote(name)) }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ ledger }}
    where operation in {{ spark_cdc._operations('committed') }}
) as loaded
inner join (
    select
        load_id,
        {{ of_load | join(',\n        ') }}
    from {{ committed }}
    where operation = 'L'
) as counted
    on loaded.load_id = counted.load_id
{%- endmacro -%}


{#- A view of an entity as it was when a tag was made, with the columns of that time.
    Arguments: view (relation of <entity>_current, _history or _versions), tag.
    Returns a query. -#}
{%- macro _tagged_sql(view, tag) -%}
    {%- set name = spark_cdc._strip_entity_affix(view.identifier) -%}
    {%- set kind = view.identifier[name | length + 1:] -%}
    {%- if kind not in ['current', 'history', 'versions'] -%}
        {%- set message -%}
spark_cdc.as_of: {{ view.identifier }} can't be read as of a tag. Accepted are {{ name }}_current, {{ name }}_history and {{ name }}_versions.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- set ctx = spark_cdc._context(spark_cdc._entity(name), view.schema) -%}
    {%- set manifest = spark_cdc._tagged_state(ctx, tag | string) -%}
    {%- set entity, relation = ctx.entity, manifest.relation -%}
    {%- if not spark_cdc._has_columns_of(entity, manifest.definition) -%}
        {%- set names, stored = adapter.get_columns_in_relation(relation) | map(attribute='name') | list, [] -%}
        {%- for column in names[:names.index('key_hash')] -%}{%- do stored.append({'sql': spark_cdc._quote(column)}) -%}{%- endfor -%}
        {%- set entity = dict(entity, stored=stored) -%}
    {%- endif -%}
    {%- if kind == 'current' -%}
        {{ return(spark_cdc._current_sql(entity, relation, spark_cdc._is_few(entity, manifest.log_rows))) }}
    {%- endif -%}
    {{ return(spark_cdc._history_sql(entity, relation) if kind == 'history' else spark_cdc._versions_sql(entity, relation)) }}
{%- endmacro -%}
