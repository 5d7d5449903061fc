{#- A model that is a table of what is true now, in a format of its own, for those who can't read
    the views, or want Delta's or Iceberg's own feed: docs/publish.md. Each run writes what has
    changed since the version that the table has. Arguments: entity (name), format (delta,
    iceberg, parquet or orc). Returns the model's SQL: all rows of the table, behind a comment by
    which cdc_published knows what to keep up to date. -#}
{%- macro publish(entity, format) -%}
    {{- config(materialized='cdc_published', file_format=format, tags=spark_cdc._selector_tag(entity)) -}}
    {%- set changes = ref(entity ~ '_changes') -%}
    {%- set current = spark_cdc._unsampled(ref(entity ~ '_current')) -%}
    {#- the graph is not there at parse time -#}
    {%- if not execute -%}{{ return('') }}{%- endif -%}
    {{ return(spark_cdc._target_query({'entity': entity, 'format': format, 'schema': changes.schema}, current)) }}
{%- endmacro -%}


{#- Refuses what can't be published, before anything is written. -#}
{%- macro _check_target(target) -%}
    {%- set formats = spark_cdc._platform().ledgers or spark_cdc._table_formats() -%}
    {%- if target.format not in formats -%}
        {%- do spark_cdc._refuse_target(target, "the format is '" ~ target.format ~ "'; accepted are " ~ formats | join(', ')) -%}
    {%- endif -%}
    {%- if not target.is_view -%}
        {%- set masked = target.entity.key_columns | selectattr('sensitive') | rejectattr('pseudonym') | map(attribute='name') | list -%}
        {%- if masked -%}
            {%- do spark_cdc._refuse_target(target, 'its key is sensitive (' ~ masked | join(', ') ~ '), and by masks ' ~ target.format ~ ' finds no row again. Say '
                ~ '`pseudonymize: true` of it in the place of a mask, which is for keys of type string, or publish as parquet or orc') -%}
        {%- endif -%}
        {%- set plan = spark_cdc._plan('create table ' ~ target.relation ~ '_probe (id int) using ' ~ target.format) -%}
        {%- if 'DATA_SOURCE_NOT_FOUND' in plan or 'Error occurred' in plan or (target.facts.own_views and 'DeltaCatalog' in plan) -%}
            {%- do spark_cdc._refuse_target(target, 'the server does not know ' ~ target.format ~ ' in the catalog of ' ~ target.relation ~ ' (' ~ plan.split('\n')[1][:200]
                ~ '). Start it with the format alone: spark-cdc server start --with ' ~ target.format ~ ', or publish as parquet') -%}
        {%- endif -%}
    {%- endif -%}
    {%- if not spark_cdc._is_there(target.ctx.committed) -%}
        {%- do spark_cdc._refuse_target(target, target.entity.name ~ ' has not been loaded yet', ' Load it first:\n  '
            ~ spark_cdc._load_command(target.entity, spark_cdc._business_date(target.entity.name))) -%}
    {%- endif -%}
{%- endmacro -%}


{#- What is there of a published table; another relation of its name is refused. Returns a
    dictionary: exists, record (what the table says of the version that it has, see
    _keep_target(); none if that is not known). -#}
{%- macro _found_target(target) -%}
    {%- set relation = target.relation -%}
    {%- if not spark_cdc._is_there(relation) -%}{{ return({'exists': false, 'record': none}) }}{%- endif -%}
    {%- if target.is_view -%}
        {%- set views = spark_cdc._views_in(relation.schema, relation.identifier) -%}
        {%- set record = spark_cdc._target_record_in(spark_cdc._view_text(relation)) if views else none -%}
        {%- set mark = (record or {}).get('mark') -%}
    {%- else -%}
        {%- set mark = spark_cdc._properties_of(relation).get('spark_cdc.published') -%}
        {%- set record = spark_cdc._target_record(relation, target.format) if mark == target.mark else none -%}
    {%- endif -%}
    {%- if mark != target.mark -%}
        {%- do spark_cdc._refuse_target(target, 'a relation of that name is there, but not the one that this model keeps (' ~ target.mark ~ '): it '
            ~ ('is of another one (' ~ mark ~ ')' if mark else 'was made by somebody else')
            ~ '. Give the model another name, or drop what is there, if nobody needs it') -%}
    {%- endif -%}
    {{ return({'exists': true, 'record': record}) }}
{%- endmacro -%}


{#- The record in a text that holds one, or none. -#}
{%- macro _target_record_in(text) -%}
    {%- set found = (text or '').split('spark_cdc published: ')[1:] | first | default('') -%}
    {{ return(fromjson(found.split('}')[0] ~ '}') if found else none) }}
{%- endmacro -%}


{#- The record in the newest commit of ours, if those that came behind it have changed no rows. Log
    files older than Delta's retention are gone; of Iceberg's snapshots those count from which the
    present one comes, so that after a rollback those before it do. Arguments: relation, format. -#}
{%- macro _target_record(relation, format) -%}
    {%- set harmless = [
        'OPTIMIZE', 'REORG', 'VACUUM START', 'VACUUM END', 'SET TBLPROPERTIES', 'UNSET TBLPROPERTIES', 'ADD COLUMNS', 'CHANGE COLUMN', 'CHANGE COLUMNS',
        'RENAME COLUMN', 'COMPUTE STATS', 'CLUSTER BY', 'UPGRADE PROTOCOL', 'ADD CONSTRAINT', 'DROP CONSTRAINT', 'replace',
    ] -%}
    {%- set snapshots -%}
select
    snapshots.operation,
    snapshots.summary['spark_cdc'] as record
from {{ relation }}.history as history
inner join {{ relation }}.snapshots as snapshots
    on history.snapshot_id = snapshots.snapshot_id
where history.is_current_ancestor
order by history.made_current_at desc
limit 100
    {%- endset -%}
    {%- set is_listed = spark_cdc._table_facts(format).lists_files -%}
    {%- for commit in (spark_cdc._query(snapshots) if is_listed else spark_cdc._delta_history(relation, 100)) -%}
        {%- set record = spark_cdc._target_record_in(commit.record if is_listed else commit.userMetadata) -%}
        {%- if record or commit.operation not in harmless -%}{{ return(record) }}{%- endif -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- Brings a published table up to date: from the changes since its own last version, or where
    those can't be told, by a comparison with all rows. Whatever is repeated gives the same: see
    docs/publish.md. Arguments: target (of _target_of_query()), sql (query of all rows). Returns
    what became of it, in a word. -#}
{%- macro _keep_target(target, sql) -%}
    {%- set ctx = target.ctx -%}
    {%- do spark_cdc._check_target(target) -%}
    {%- set timeline = spark_cdc._read_manifest(ctx.committed) -%}
    {%- set found = spark_cdc._found_target(target) -%}
    {%- if found.exists and not spark_cdc._is_loading(ctx.entity.name) and spark_cdc._behind_columns(ctx.entity, timeline.definition) -%}{{ return('UNCHANGED') }}{%- endif -%}
    {%- do spark_cdc._check_timeline_columns(ctx, timeline) -%}
    {%- set renamed = target.columns | selectattr('shown', 'defined') | map(attribute='name') | reject('equalto', 'eff_start_date') | list -%}
    {%- set columns = local_md5(tojson([timeline.definition, timeline.layout] + renamed, sort_keys=true)) -%}
    {%- set has = found.record or {} -%}
    {%- if [has.get('version'), has.get('commit'), has.get('columns')] == [timeline.sequence, timeline.commit, columns] and not should_full_refresh() -%}
        {{ return('UNCHANGED') }}
    {%- endif -%}
    {%- set records = spark_cdc._load_records(ctx.public, timeline.loads) -%}
    {%- do spark_cdc._check_feed_records(target.entity, timeline, records) -%}
    {%- set record = {
        'mark': target.mark,
        'version': timeline.sequence,
        'commit': timeline.commit,
        'load_id': ([none] + spark_cdc._commits(timeline, records) | map(attribute='load_id') | list) | last,
        'columns': columns,
    } -%}
    {%- set since = spark_cdc._target_since(target, timeline, found.record, columns) if found.exists else {'version': none} -%}
    {%- set changed = none -%}
    {%- if since.version is none and found.exists -%}
        {%- do log(target.entity.name ~ ': ' ~ target.relation ~ ' is compared with all rows: ' ~ since.why, info=true) -%}
    {%- elif found.exists -%}
        {%- set feed = spark_cdc._feed_sql(ctx, target.changes, since.version, timeline.sequence) -%}
        {%- if not spark_cdc._query('select 1 as is_changed\nfrom (\n' ~ feed ~ '\n) as changes\nlimit 1') -%}{{ return('UNCHANGED') }}{%- endif -%}
        {%- set changed = spark_cdc._target_changes_sql(target, feed) -%}
    {%- endif -%}
    {%- if target.is_view -%}
        {%- do spark_cdc._write_target_view(target, found, record, sql) -%}
    {%- else -%}
        {#- in one commit, whose own metadata have the version that the table has then; one that is
            not there, or whose columns have other types now, is written whole -#}
        {%- set is_new = not found.exists or not spark_cdc._settled_target(target) -%}
        {%- do spark_cdc._set(target.facts.commit_note, '`spark_cdc published: ' ~ spark_cdc._comment_json(record) ~ '`') -%}
        {%- do spark_cdc._send(spark_cdc._create_target_sql(target, sql) if is_new else spark_cdc._merge_target_sql(target, sql, changed)) -%}
        {%- do spark_cdc._set(target.facts.commit_note, none) -%}
    {%- endif -%}
    {{ return('OK') }}
{%- endmacro -%}


{#- The version whose changes are the next ones of a published table, or none with the reason why
    they can't be told. Argument: record (what the table says of itself, or none). -#}
{%- macro _target_since(target, timeline, record, columns) -%}
    {%- set no, made_anew = {'version': none}, 'the entity was made anew since' -%}
    {%- if should_full_refresh() -%}{{ return(dict(no, why='--full-refresh')) }}{%- endif -%}
    {%- if record is none -%}{{ return(dict(no, why='its metadata do not tell which version it has, or somebody else has written into it')) }}{%- endif -%}
    {%- if record.version > timeline.sequence -%}{{ return(dict(no, why=made_anew)) }}{%- endif -%}
    {%- if record.columns != columns -%}{{ return(dict(no, why='the entity has other columns than when it was written')) }}{%- endif -%}
    {%- set told = spark_cdc._manifests_since(target.ctx, timeline, record.version) -%}
    {%- set oldest = told[0] -%}
    {%- if oldest.rewritten > record.version -%}
        {{ return(dict(no, why='what changed since version ' ~ record.version ~ ' can\'t be told any more (commit ' ~ oldest.rewritten ~ ' took loads away)')) }}
    {%- endif -%}
    {%- if told | map(attribute='definition') | unique | list | length > 1 -%}
        {{ return(dict(no, why='loads were replaced by some with other columns')) }}
    {%- endif -%}
    {%- set records = spark_cdc._load_records(target.ctx.public, oldest.loads) -%}
    {%- do spark_cdc._check_feed_records(target.entity, oldest, records) -%}
    {%- set before = spark_cdc._commits(oldest, records) | selectattr('version', 'le', record.version) | map(attribute='load_id') | list -%}
    {{ return({'version': record.version} if ([none] + before) | last == record.load_id else dict(no, why=made_anew)) }}
{%- endmacro -%}


{#- Stops a model that publishes, before anything is written. Argument: problem (a sentence
    without its full stop). -#}
{%- macro _refuse_target(target, problem, step='') -%}
    {%- do exceptions.raise_compiler_error(
        'spark_cdc.publish: ' ~ target.entity.name ~ ' as ' ~ target.relation ~ ': ' ~ problem ~ '. Nothing was written.' ~ step) -%}
{%- endmacro -%}


{#- What changed from one version to another, net: the last row of each key, and whether it is
    gone. Of what a published table has of it already, since a run was killed or another was
    quicker, nothing follows. Argument: feed (query of changes). Returns a query with the table's
    columns and cdc__is_gone. -#}
{%- macro _target_changes_sql(target, feed) -%}
select
    {{ spark_cdc._target_values(target.columns) | join(',\n    ') }},
    _change_type = 'delete' as cdc__is_gone
from (
    select
        *,
        row_number() over (partition by key_hash order by _commit_version desc, load_id desc, _change_type desc) as cdc__rank
    from (
        {{ feed | indent(8) }}
    ) as changes
    where _change_type <> 'update_preimage'
) as ranked
where cdc__rank = 1
{%- endmacro -%}


{#- The SQL of a published table's model: all its rows, behind what it is of as JSON in a
    comment. Arguments: plan (entity, format, schema), current (relation). -#}
{%- macro _target_query(plan, current) -%}
{%- set columns = spark_cdc._target_columns(spark_cdc._entity(plan.entity)) -%}
/* spark_cdc target: {{ spark_cdc._comment_json(plan) }} */
select
    {{ spark_cdc._target_values(columns) | join(',\n    ') }}
from {{ current }}
{%- endmacro -%}


{#- The same, read from such SQL: all that is known of a published table before its own metadata
    are read. Returns a dictionary: entity, ctx, relation, format, is_view (whether it is a
    view over tables of ours), columns, mark (by which the table is known as ours), changes
    (relation). -#}
{%- macro _target_of_query(sql, relation) -%}
    {%- set plan = fromjson(sql.split('/* spark_cdc target: ')[1].split(' */')[0]) -%}
    {%- set entity, facts = spark_cdc._entity(plan.entity), spark_cdc._table_facts(plan.format) -%}
    {{ return({
        'entity': entity,
        'ctx': spark_cdc._context(entity, plan.schema),
        'relation': relation,
        'format': plan.format,
        'facts': facts,
        'is_view': not facts.has_log,
        'columns': spark_cdc._target_columns(entity),
        'mark': plan.schema ~ '.' ~ entity.name ~ ' as ' ~ plan.format,
        'changes': spark_cdc._relation_in(plan.schema, entity.name ~ '_changes'),
    }) }}
{%- endmacro -%}


{#- The columns of a published table: those that are stored, and when the row's version began, by
    the name that `validity` gives it. Rows without a key are found again by their hash. -#}
{%- macro _target_columns(entity) -%}
    {%- set key = [] if entity.key_columns else [{'name': 'key_hash', 'sql': 'key_hash', 'data_type': 'string', 'role': 'key'}] -%}
    {{ return(entity.stored + key + [{
        'name': entity.validity.start | replace('`', ''), 'sql': entity.validity.start, 'shown': 'eff_start_date', 'data_type': entity.eff_type, 'role': none,
    }]) }}
{%- endmacro -%}


{#- These columns of <entity>_current or of its changes, under the table's own names. -#}
{%- macro _target_values(columns) -%}
    {%- set values = [] -%}
    {%- for column in columns -%}{%- do values.append(spark_cdc._aliased(column.get('shown') or column.sql, column.sql)) -%}{%- endfor -%}
    {{ return(values) }}
{%- endmacro -%}


{#- Adds the columns that a published table lacks. Returns whether those that it has are of the
    types that are written. Columns beyond are left alone. -#}
{%- macro _settled_target(target) -%}
    {%- set lacking, is_alike = [], [] -%}
    {%- set found = {} -%}
    {%- for column in adapter.get_columns_in_relation(target.relation) -%}{%- do found.update({column.name | lower: column.dtype}) -%}{%- endfor -%}
    {%- for column in target.columns -%}
        {%- set type = spark_cdc._type_in(target.facts, spark_cdc._plain_type(column.data_type)) -%}
        {%- set there = found.get(column.name | lower) -%}
        {%- if there is none -%}
            {%- do lacking.append(column.sql ~ ' ' ~ type) -%}
        {%- elif spark_cdc._type_in(target.facts, spark_cdc._plain_type(there)) != type -%}
            {%- do log(target.entity.name ~ ': ' ~ column.name ~ ' is ' ~ type ~ ' now, and ' ~ there ~ ' in ' ~ target.relation ~ ', which is written anew', info=true) -%}
            {{ return(false) }}
        {%- endif -%}
    {%- endfor -%}
    {%- if lacking -%}
        {%- for type, properties in target.facts.features.items() if type in lacking | join -%}
            {%- do spark_cdc._set_properties(target.relation, properties) -%}
        {%- endfor -%}
        {%- do spark_cdc._add_columns(target.relation, lacking) -%}
    {%- endif -%}
    {{ return(true) }}
{%- endmacro -%}


{%- macro _create_target_sql(target, sql) -%}
    {%- set properties = dict(
        target.facts.published,
        **dict(config.get('tblproperties') or {}, **{'spark_cdc.published': target.mark})
    ) -%}
create or replace table {{ target.relation }}
using {{ target.format }}
{{ partition_cols(label='partitioned by') }}
{{ location_clause() }}
tblproperties (
    {%- for name, value in properties.items() %}
    {{ spark_cdc._literal(name) }} = {{ spark_cdc._literal(value) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
as
{{ sql }}
{%- endmacro -%}


{#- What brings a published table up to date: rows that it has already as they are to be are not
    touched. -#}
{%- macro _merge_target_sql(target, sql, changed) -%}
{%- set is_other = [] -%}
{%- for column in target.columns if column.role != 'key' -%}
    {%- set sides = [] -%}
    {%- for side in ['published.', 'came.'] -%}
        {%- set value = side ~ column.sql -%}
        {#- maps can't be compared as they are -#}
        {%- do sides.append(
            spark_cdc._hash_value(value, spark_cdc._hash_type(column.data_type), 0, '', '~') if 'map<' in column.data_type | lower else value) -%}
    {%- endfor -%}
    {%- do is_other.append(sides | join(' <=> ')) -%}
{%- endfor -%}
{%- set names = target.columns | map(attribute='sql') | list -%}
merge into {{ target.relation }} as published
using (
    {{ (changed or 'select\n    *,\n    false as cdc__is_gone\nfrom (\n' ~ sql ~ '\n) as all_rows') | indent }}
) as came
    on
        {% for column in target.columns | selectattr('role', 'equalto', 'key') -%}
        published.{{ column.sql }} = came.{{ column.sql }}{{ '\n        and ' if not loop.last }}
        {%- endfor %}
when matched and came.cdc__is_gone then delete
when matched and not (
    {{ is_other | join('\n    and ') }}
) then
    update
        set
            {% for name in names -%}
            {{ name }} = came.{{ name }}{{ ',\n            ' if not loop.last }}
            {%- endfor %}
when not matched and not came.cdc__is_gone then insert (
    {{ names | join(',\n    ') }}
) values (
    came.{{ names | join(',\n    came.') }}
)
{%- if not changed %}
when not matched by source then delete
{%- endif %}
{%- endmacro -%}


{#- Writes a published table of a format that knows no MERGE: a new table, and then the view of
    the model's name is altered to it, which is the commit. The version stands in the view's
    text. The table before stays for queries in flight until the next one is written, but with
    --full-refresh: what it holds may have to go (erase).
    Arguments: found (of _found_target()), record (that the table says of itself), sql (query of all
    rows). -#}
{%- macro _write_target_view(target, found, record, sql) -%}
    {%- set table = spark_cdc._relation_in(model.schema, '%s_v%06d_%s' % (target.relation.identifier, record.version, spark_cdc._run_id8())) -%}
    {%- set names = target.columns | map(attribute='sql') | list -%}
    {%- set created -%}
create table if not exists {{ table }} (
    {%- for column in target.columns %}
    {{ column.sql }} {{ column.data_type }}{{ ',' if not loop.last }}
    {%- endfor %}
)
using {{ target.format }}
    {%- endset -%}
    {%- set text -%}
select
    /* spark_cdc published: {{ spark_cdc._comment_json(record) }} */
    {{ names | join(',\n    ') }}
from {{ table }}
    {%- endset -%}
    {#- known before it is written, so that what a kill leaves of it can be dropped -#}
    {%- do spark_cdc._send(created) -%}
    {%- do spark_cdc._send(spark_cdc._overwrite_sql(table) ~ '\n' ~ sql) -%}
    {%- set now = spark_cdc._found_target(target) -%}
    {%- if now.record != found.record -%}
        {%- do spark_cdc._drop_table(table) -%}
        {%- do spark_cdc._refuse_target(target, 'another run has published version ' ~ (now.record or {}).get('version') ~ ' meanwhile. Run the same command again') -%}
    {%- endif -%}
    {%- do spark_cdc._send(spark_cdc._replace_view_sql(target.relation, text, found.exists)) -%}
    {#- The table that is shown stays, and those of its version and of the one before; with
        --full-refresh none. What a killed run has left goes, and what another run is about to show,
        which fails then. -#}
    {%- set name, before = target.relation.identifier ~ '_v', (found.record or {}).get('version', 0) -%}
    {%- for identifier in spark_cdc._tables_in(target.relation.schema, name ~ '*') -%}
        {%- set number, _, run = identifier.removeprefix(name).partition('_') -%}
        {%- set is_ours = number | length >= 6 and not number.strip('0123456789') and run | length == 8 and not run.strip('0123456789abcdef') -%}
        {%- set version = number | int -%}
        {%- if is_ours and identifier.startswith(name) and identifier != table.identifier and (should_full_refresh()
                or (version not in [record.version, before] and not before < version < record.version)) -%}
            {%- do spark_cdc._drop_table(spark_cdc._relation_in(model.schema, identifier)) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}


{#- Makes a published table without rows, for models that read it, where nothing is loaded: with
    --empty and --sample, and before the first load. It knows no version, so that the next run
    compares it with all rows. -#}
{%- macro _make_target(target, sql) -%}
    {%- do spark_cdc._check_target(target) -%}
    {%- set sql = 'select *\nfrom (\n' ~ sql ~ '\n) as published\nwhere false' -%}
    {%- if target.is_view -%}
        {%- do spark_cdc._write_target_view(
            target, {'exists': false, 'record': none}, {'mark': target.mark, 'version': 0, 'commit': none, 'load_id': none, 'columns': none}, sql) -%}
    {%- else -%}
        {%- do spark_cdc._send(spark_cdc._create_target_sql(target, sql)) -%}
    {%- endif -%}
    {{ return('NOT LOADED') }}
{%- endmacro -%}


{#- A published table: brought from the version that it has to the one that readers of the entity
    see. Delta and Iceberg by MERGE, Parquet and ORC by a new table behind a view. --empty and
    --sample only make one that is not there; the loads of a replay write nothing before it is
    published. -#}
{% materialization cdc_published, adapter='spark' %}
    {%- set target = spark_cdc._target_of_query(sql, this) -%}
    {{ run_hooks(pre_hooks) }}
    {%- set message, mode = 'UNCHANGED', spark_cdc._mode() -%}
    {%- set is_unloaded = not spark_cdc._is_loading(target.entity.name) and not spark_cdc._is_there(target.relation)
        and (mode == 'look' or not spark_cdc._read_manifest(target.ctx.committed).loads) -%}
    {%- if is_unloaded -%}
        {%- set message = spark_cdc._make_target(target, sql) -%}
    {%- elif mode in ['load', 'operate'] and spark_cdc._replay() is none -%}
        {%- set message = spark_cdc._keep_target(target, sql) -%}
    {%- endif -%}
    {%- do store_raw_result('main', message=message, code=message, rows_affected='-1') -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='view' if target.is_view else 'table')]}) }}
{% endmaterialization %}
