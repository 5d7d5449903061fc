{#- The model stg_<entity>: what came in for the business date, renamed and cast to the declared
    types, with both hashes, and with a note on each row that can't be accepted. It is ephemeral:
    the ledger reads it as a common table expression, so that what is loaded can't depend on what
    another run did to a view meanwhile. `dbt show --select stg_<entity> --vars '{business_date:
    ...}'` looks at it.
    Arguments: the dbt source and table where lineage starts; or a relation in place of both, such
    as ref('orders'). Returns the model's SQL. -#}
{%- macro stage(source_name='landing', table_name=none) -%}
    {{- config(materialized='ephemeral', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set landing = source(source_name, table_name or name) if source_name is string else source_name -%}
    {#- the graph, and so the configuration, is not there yet -#}
    {%- if not execute -%}
        {%- set columns = spark_cdc._columns_in_yaml() -%}
        {%- if columns -%}{{- config(column_types={'spark_cdc': local_md5(tojson(columns))}) -}}{%- endif -%}
        {{ return('') }}
    {%- endif -%}
    {%- set entity = spark_cdc._entity(name) -%}
    {%- set stage_sql = spark_cdc._stage_events_sql if entity.events else spark_cdc._stage_sql -%}
    {%- if entity.source.on_unexpected_column == 'add' and (spark_cdc._is_loading(name) or flags.WHICH == 'show') -%}
        {#- dbt compiles this model before the one that plans the load -#}
        {%- set ledger = graph.nodes.get(model.unique_id.rsplit('.', 1)[0] ~ '.' ~ name ~ '_ledger') or model -%}
        {%- set entity = spark_cdc._planned_run(spark_cdc._context(entity, ledger.schema)).entity -%}
    {%- endif -%}
    {%- if spark_cdc._is_archive_replay() -%}  {#- nothing has landed in this session -#}
        {{ return('select 1 as not_read') }}
    {%- endif -%}
    {%- if flags.WHICH == 'show' -%}
        {%- if entity.source.facts.reads == 'feed' -%}
            {%- set entity = spark_cdc._run_with_change_feed(spark_cdc._planned_run(spark_cdc._context_of_model())).entity -%}
        {%- endif -%}
        {%- do spark_cdc._land_load(entity, landing, spark_cdc._business_time_of(name)) -%}
    {%- endif -%}
    {%- set sql = stage_sql(entity, spark_cdc._landed_view(entity)) -%}
    {{ return(spark_cdc._masked_stage_sql(entity, sql) if flags.WHICH == 'show' and entity.sensitive else sql) }}
{%- endmacro -%}


{#- The model <entity>_events: the change events of this load, typed and judged, in a partition
    of their own; the archive of all loads where the entity has `archive: true`. The ledger reads
    it, so that the source is parsed once. Returns the model's SQL, which begins with the load's
    name as a comment. -#}
{%- macro events() -%}
    {{- config(materialized='cdc_events', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -}}
    {%- set incoming = ref('stg_' ~ spark_cdc._entity_name()) -%}
    {#- neither graph nor server at parse time -#}
    {%- if not execute -%}{{ return('') }}{%- endif -%}
    {%- do spark_cdc._check_dated(spark_cdc._entity_name()) -%}
    {{ return(spark_cdc._events_query(spark_cdc._planned_run(spark_cdc._context_of_model()), incoming)) }}
{%- endmacro -%}


{#- The model <entity>_ledger: what this load writes. Its rows stay invisible until
    <entity>_committed names the load.

    The SQL begins with the load as JSON, in a comment: a materialization gets nothing from its
    model but the SQL, and this is the contract between the two. It names what the rows were
    compared with and how (load_id, parent, base, log, is_checkpoint, layout, of change events the
    summary), so that what is written, and the record of the load in the ledger (its row L, the same
    JSON), can't tell another story than the rows. See _load_of_comment(), _plan_load() for its
    parts, and cdc_ledger, which reads it back.

    Arguments: events (whether the entity's load type is events: it then reads <entity>_events).
    Returns the model's SQL. -#}
{%- macro ledger(events=false) -%}
    {{- config(materialized='cdc_ledger', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set incoming = ref(name ~ '_events') if events else ref('stg_' ~ name) -%}
    {#- neither graph nor server at parse time -#}
    {%- if not execute -%}{{ return('') }}{%- endif -%}
    {%- do spark_cdc._check_dated(name) -%}
    {%- set run = spark_cdc._planned_run(spark_cdc._context_of_model(), is_planned=events) -%}
    {#- `this`, for which unit tests give rows; but the ledger of an entity with sensitive
        columns is another table, and so are its events -#}
    {%- if not run.entity.sensitive -%}{{ return(spark_cdc._ledger_query(dict(run, ledger=this), incoming)) }}{%- endif -%}
    {{ return(spark_cdc._ledger_query(run, run.events if events else incoming)) }}
{%- endmacro -%}


{#- The model <entity>_committed: audits what <entity>_ledger has just written and makes it
    visible. Its view's text is the manifest; altering it is the commit. The model
    <entity>_committed_sensitive shows the same rows with their sensitive columns. Returns the
    model's SQL. -#}
{%- macro committed() -%}
    {%- if spark_cdc._is_sensitive_model() -%}{{ return(spark_cdc._view_query(spark_cdc._committed_sensitive_sql, 'ledger', 'committed')) }}{%- endif -%}
    {{- config(materialized='cdc_committed', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set ledger = spark_cdc._unsampled(ref(name ~ '_ledger')) -%}
    {#- the graph is not there at parse time -#}
    {%- if not execute -%}{{ return('') }}{%- endif -%}
    {#- what is compiled has no loads: the materialization writes the real text -#}
    {{ return(spark_cdc._committed_sql(spark_cdc._entity(name), ledger, spark_cdc._empty_manifest())) }}
{%- endmacro -%}


{#- The columns of the model at hand as its YAML has them, without descriptions and tests, while dbt
    parses. `state:modified` compares a model's configuration, of which columns are no part: stage()
    puts a fingerprint of these into a setting that has no other use in a model. dbt does not hand
    YAML to a model; it has read it by then, and the object behind ref() holds it. Where it does
    not, as in dbt v2, there is no fingerprint.
    Returns a list of dictionaries; an empty one where none is found. -#}
{%- macro _columns_in_yaml() -%}
    {%- set files = builtins.ref.manifest.files if builtins is defined and builtins.ref is defined and builtins.ref.manifest is defined else {} -%}
    {%- set columns = [] -%}
    {%- for file in files.values() if file.dict_from_yaml and file.project_name == model.package_name -%}
        {%- for described in file.dict_from_yaml.get('models') or [] if described is mapping and described.get('name') == model.name -%}
            {%- for column in described.get('columns') or [] if column is mapping -%}
                {%- do columns.append(dict(column.items() | rejectattr(0, 'in', ['description', 'tests', 'data_tests']))) -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- Publishes a load: audits what the ledger holds of it, then makes it visible, then adds it to
    cdc_loads. Where the run loads nothing, the view is only brought up to date with the
    columns. -#}
{% materialization cdc_committed, adapter='spark' %}
    {%- set ctx = spark_cdc._context_of_model() -%}
    {%- do spark_cdc._check_dated(ctx.entity.name) -%}
    {%- set is_again = spark_cdc._is_load_again(ctx, 'ledger') -%}
    {%- set loads_now = spark_cdc._is_loading(ctx.entity.name) and (
        (model['unique_id'].rsplit('.', 1)[0] ~ '.' ~ ctx.public.identifier) in selected_resources
        or spark_cdc._written_note(ctx, 'ledger') in spark_cdc._memo() or is_again and spark_cdc._is_due(ctx)) -%}
    {%- set run = spark_cdc._planned_run(ctx, is_planned=not is_again) if loads_now else dict(ctx, manifest=spark_cdc._current_timeline(ctx)) -%}
    {{ run_hooks(pre_hooks) }}
    {%- do spark_cdc._ensure_load_log(ctx.load_log) -%}  {#- it may not be part of this run -#}
    {%- if loads_now -%}
        {%- do spark_cdc._commit_load(run) -%}
        {%- do store_raw_result('main', message='OK', code='OK', rows_affected='-1') -%}
    {%- else -%}
        {%- do spark_cdc._keep_committed(run) -%}
    {%- endif -%}
    {%- do spark_cdc._apply_config() -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='view')]}) }}
{% endmaterialization %}


{#- Brings <entity>_committed up to date with the columns, and cdc_loads with the manifest, where
    the run does not load the entity. A run with a business date that leaves the ledger out (a retry
    of a refused load, most often) would look like a load that succeeded, which is refused. Columns
    that no load has brought yet can't be shown: without a business date the view stays as it is,
    else that is refused, too. With --empty and --sample a view that shows loads stays as it is.
    Argument: run (of _context_of_model(), with manifest). -#}
{%- macro _keep_committed(run) -%}
    {%- set name, manifest, mode = run.entity.name, run.manifest, spark_cdc._mode() -%}
    {%- set time = spark_cdc._business_time_of(name) -%}
    {%- if mode in ['load', 'operate'] and spark_cdc._is_due(run, manifest) -%}
        {%- set message -%}
{{ name }}: nothing of {{ spark_cdc._time_text(run.entity, time) }} is committed, and {{ name }}_ledger is not part of this run, so there is {# -#}
nothing to commit. Load the date:
  {{ spark_cdc._load_command(run.entity, spark_cdc._time_text(run.entity, time)) }}
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- set advice = 'Load a business date, which applies the change:\n  ' ~ spark_cdc._load_command(run.entity, none) -%}
    {%- set is_behind = spark_cdc._behind_columns(run.entity, manifest.definition if manifest.loads else none) -%}
    {%- if is_behind and spark_cdc._is_loading(name) -%}
        {%- do exceptions.raise_compiler_error(is_behind ~ ' and this run does not load it. Nothing was committed. ' ~ advice) -%}
    {%- elif is_behind -%}
        {%- do exceptions.warn('spark_cdc: ' ~ is_behind ~ ' so its views stay as they are until a load. ' ~ advice) -%}
    {%- elif mode != 'load' and (manifest.loads or manifest.undone) -%}
        {%- do log(name ~ ': ' ~ run.committed ~ ' stays as it is') -%}
    {%- else -%}
        {%- set text, cached = spark_cdc._manifest_text(run, manifest), spark_cdc._known(run.committed) -%}
        {#- what another run commits meanwhile is not altered back for nothing -#}
        {%- if text | trim != spark_cdc._view_text_in(cached.information if cached is not none else '') | trim -%}
            {%- do spark_cdc._show_manifest(run, text, manifest.existed) -%}
        {%- endif -%}
    {%- endif -%}
    {%- if mode == 'load' and not is_behind -%}
        {%- do spark_cdc._write_log(run.write.load_log, run.entity, spark_cdc._missing_rows(run, manifest)) -%}
        {%- do spark_cdc._drop_claims(run, manifest.sequence) -%}
    {%- endif -%}
    {%- do spark_cdc._note_not_loaded(name) -%}
{%- endmacro -%}


{#- The events of a load, written into a partition of their own. Those of earlier loads go after
    the commit, unless the entity archives its events: only the load at hand is read. In a replay
    from the archive they are taken from the partition of the load that is rebuilt. -#}
{% materialization cdc_events, adapter='spark' %}
    {{ run_hooks(pre_hooks) }}
    {%- do spark_cdc._load_events(spark_cdc._context_of_model(), sql) -%}
    {%- do spark_cdc._apply_config() -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table' if spark_cdc._write_target(this) == this else 'view')]}) }}
{% endmaterialization %}


{#- The ledger of an entity: writes one load into partitions of its own. Nothing that was there
    before is touched, and nothing that is written is visible until the manifest names it. An
    overwrite of named partitions gives the same when it is sent twice. --full-refresh does not
    drop the table (see spark_cdc_reset). -#}
{% materialization cdc_ledger, adapter='spark' %}
    {{ run_hooks(pre_hooks) }}
    {%- do spark_cdc._load_ledger(spark_cdc._context_of_model(), sql) -%}
    {%- do spark_cdc._apply_config() -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table' if spark_cdc._write_target(this) == this else 'view')]}) }}
{% endmaterialization %}


{#- cdc_loads: created if it is not there, and otherwise left alone, also by --full-refresh.
    Columns that a later version records are added. -#}
{% materialization cdc_load_log, adapter='spark' %}
    {{ run_hooks(pre_hooks) }}
    {%- do spark_cdc._ensure_load_log(this) -%}
    {%- do store_raw_result('main', message='OK', code='OK', rows_affected='-1') -%}
    {%- do spark_cdc._apply_config() -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table' if spark_cdc._write_target(this) == this else 'view')]}) }}
{% endmaterialization %}


