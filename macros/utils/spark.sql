{#- dbt's snapshots look up their table with this. dbt-spark recognizes Iceberg by the table's
    provider, which is Hive's where Iceberg is the session's catalog: it would refuse the second
    snapshot. -#}
{%- macro spark__get_or_create_relation(database, schema, identifier, type) -%}
    {%- set found, relation = default__get_or_create_relation(database, schema, identifier, type) -%}
    {%- if found and spark_cdc._provider_of(relation) == 'iceberg' -%}
        {%- set relation = relation.incorporate(is_iceberg=true) -%}
    {%- endif -%}
    {{ return([found, relation]) }}
{%- endmacro -%}


{#- The eight characters that identify this run of dbt. -#}
{%- macro _run_id8() -%}{{ return(local_md5(invocation_id)[:8]) }}{%- endmacro -%}


{#- The rows of a query, as a list of dictionaries by column name. -#}
{%- macro _query(sql) -%}
    {%- set rows = [] -%}
    {%- for row in run_query(sql).rows -%}{%- do rows.append(dict(row.items())) -%}{%- endfor -%}
    {{ return(rows) }}
{%- endmacro -%}


{#- A relation by schema and name. -#}
{%- macro _relation_in(schema, identifier) -%}
    {{ return(api.Relation.create(database=spark_cdc._database(), schema=schema, identifier=identifier)) }}
{%- endmacro -%}


{#- Send a statement that gives no rows. Other than run_query() it fetches nothing, which saves a
    call, and which PyHive can't where Spark 3.5 answers without a column. Where an operation only
    prints what it would do, nothing is sent but what ends with the session. -#}
{%- macro _send(sql) -%}
    {%- if spark_cdc._memo().get('mode') == 'plan' and (sql | trim).split(' ')[0] not in ['set', 'reset', 'refresh', 'call']
            and not (sql | trim).replace(' global ', ' ').startswith('create or replace temporary view') -%}
        {%- do log('spark_cdc would send: ' ~ sql) -%}
        {{ return('') }}
    {%- endif -%}
    {%- call statement(none, auto_begin=false) -%}
        {{- sql -}}
    {%- endcall -%}
{%- endmacro -%}


{#- What the server says of itself, asked once in a run: version and catalog (the session's), as
    texts. -#}
{%- macro _server() -%}
    {%- set memo = spark_cdc._memo() -%}
    {%- if 'server' in memo -%}{{ return(memo.server) }}{%- endif -%}
    {%- set found = spark_cdc._query('select version() as version, current_catalog() as catalog') | first | default({}) -%}
    {%- set server = {'version': found.get('version') | string, 'catalog': found.get('catalog') or 'spark_catalog'} -%}
    {%- do memo.update({'server': server}) -%}
    {{ return(server) }}
{%- endmacro -%}


{#- The version of Spark: (numbers, text). numbers: major and minor, or none where a vendor answers
    with another kind of text. -#}
{%- macro _spark_version() -%}
    {%- set text = spark_cdc._server().version -%}
    {%- set numbers = text.replace('-', '.').replace(' ', '.').split('.')[:2] -%}
    {%- set is_known = numbers | length == 2 and numbers[0].isdigit() and numbers[1].isdigit() -%}
    {{ return((numbers | map('int') | list if is_known else none, text.split(' ')[0])) }}
{%- endmacro -%}


{#- Values computed once in a run of dbt, by name. They live in dbt's graph, which all nodes and
    threads share: only whole values go in, and nobody changes them. Empty while dbt parses, and in
    a unit test, whose entity may differ from the project's. -#}
{%- macro _memo() -%}
    {%- if not execute or (model is defined and model.get('resource_type') == 'unit_test') -%}{{ return({}) }}{%- endif -%}
    {%- set memo = graph.setdefault('spark_cdc', {'run': invocation_id}) -%}
    {%- if memo.run != invocation_id -%}
        {#- a program that calls dbt again with the manifest that it has: vars may be other ones -#}
        {%- set memo = {'run': invocation_id} -%}
        {%- do graph.update({'spark_cdc': memo}) -%}
    {%- endif -%}
    {{ return(memo) }}
{%- endmacro -%}


{#- What this run of dbt does, decided here and nowhere else:
    load     dbt run, build or retry; it has begun with validate(), which creates the schemas of
             claims
    operate  an operation
    plan     an operation that only prints what it would do (_check_arguments()); _send() writes
             nothing
    look     everything else, such as compile and show; also --empty, and --sample, whose part of a
             source is not to be taken for all of it
    A run without a business date is a load that loads nothing: _is_loading().
    Returns the word. -#}
{%- macro _mode() -%}
    {%- set memo = spark_cdc._memo() -%}
    {%- if not memo.get('mode') -%}
        {%- set is_load = spark_cdc._is_run() -%}
        {%- set mode = 'operate' if flags.WHICH == 'run-operation' else 'load' if is_load else 'look' -%}
        {%- do memo.update({'mode': mode}) -%}
        {{ return(mode) }}
    {%- endif -%}
    {{ return(memo.mode) }}
{%- endmacro -%}


{#- Whether this is dbt run, build or retry with all rows. -#}
{%- macro _is_run() -%}
    {{ return(flags.WHICH in ['run', 'build', 'retry'] and not flags.EMPTY and not invocation_args_dict.get('sample')) }}
{%- endmacro -%}


{#- Whether dbt is version 2 (docs/dbt_versions.md). -#}
{%- macro _of_dbt_2() -%}{{ return(dbt_version.startswith('2.')) }}{%- endmacro -%}


{#- What this dbt is not tested with, of what it is asked for. On dbt v2 that is all but what
    tests/test_dbt_v2_loads.py does. Argument: asked (rows of a text and whether it is tested).
    Returns a list of texts. -#}
{%- macro _dbt_problems(asked) -%}
    {%- set found = [] -%}
    {%- for what, is_tested in asked if spark_cdc._of_dbt_2() and not is_tested -%}
        {%- do found.append(what ~ ' is not tested with dbt ' ~ dbt_version ~ ': run this with dbt 1.11 or 1.12 (docs/dbt_versions.md).') -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- Prints what a program asked for, as one line of JSON that begins with `spark_cdc: `; the command
    line reads it.
    Arguments: entities (dictionaries: entity, the name, and data by the names of parts, see
    state()), more (what is not of one entity). -#}
{%- macro _print_data(entities, more={}) -%}{%- do print('spark_cdc: ' ~ tojson(dict(more, entities=entities))) -%}{%- endmacro -%}


{#- Whether spark-cdc runs this command of dbt: it reads data, and its user types its commands. -#}
{%- macro _is_of_command_line() -%}{{ return(env_var('SPARK_CDC_DATA', '') != '') }}{%- endmacro -%}


{#- Prints data in a command of dbt that spark-cdc runs; people get a sentence of it in others.
    Arguments: name (of an entity), part (what is told of it), data. Returns whether it was
    printed. -#}
{%- macro _is_told(name, part, data=true) -%}
    {%- if spark_cdc._is_of_command_line() -%}{%- do spark_cdc._print_data([{'entity': name, part: data}]) -%}{%- endif -%}
    {{ return(spark_cdc._is_of_command_line()) }}
{%- endmacro -%}


{#- The version of this package, as dbt_project.yml and pyproject.toml have it. -#}
{%- macro _version() -%}{{ return('1.0.0') }}{%- endmacro -%}


{#- A relation of ref() with all its rows: --empty and --sample would limit a view or a test to a
    part. -#}
{%- macro _unsampled(relation) -%}
    {#- relations of dbt v2 have neither -#}
    {{ return(relation.replace(limit=none, event_time_filter=none) if relation.limit is number or relation.event_time_filter else relation) }}
{%- endmacro -%}


{#- A context (see _context()) with `write`: the tables that its ledger, public, events, input and
    load_log are written to, decided here for all that follows. -#}
{%- macro _writing(ctx) -%}
    {%- set write = {} -%}
    {%- for name in ['ledger', 'public', 'events', 'input', 'load_log'] -%}
        {%- do write.update({name: spark_cdc._write_target(ctx[name]) if ctx[name] else none}) -%}
    {%- endfor -%}
    {{ return(dict(ctx, write=write)) }}
{%- endmacro -%}


{#- The table to write to. In a branch (docs/branches.md) a view with production's rows has the
    table's name, and the branch writes to <name>_own. dbt's cache tells; where nothing is written,
    as by compile, it is not asked, since that would take a server. -#}
{%- macro _write_target(table) -%}
    {%- set found = spark_cdc._known(table) if spark_cdc._mode() != 'look' else none -%}
    {%- if found is none or not spark_cdc._is_view_in(found.information) -%}{{ return(table) }}{%- endif -%}
    {{ return(spark_cdc._relation_in(table.schema, table.identifier ~ '_own')) }}
{%- endmacro -%}


{#- The view <schema>_commits.spark_cdc_branch makes a schema a branch (docs/branches.md). A comment
    in its text names production's schema (of) and the branch (name). It is created first and
    dropped last, so that create and drop can be repeated. -#}
{%- macro _branch_marker(schema) -%}
    {{ return(spark_cdc._relation_in(schema ~ '_commits', 'spark_cdc_branch')) }}
{%- endmacro -%}


{#- The content of a schema's marker; none without one. -#}
{%- macro _branch_marker_of(schema) -%}
    {%- set marker = spark_cdc._branch_marker(schema) -%}
    {%- if not spark_cdc._has_schema(marker.schema)
            or not spark_cdc._views_in(marker.schema, marker.identifier) -%}
        {{ return(none) }}
    {%- endif -%}
    {{ return(spark_cdc._branch_origin(spark_cdc._view_text(marker))) }}
{%- endmacro -%}


{#- The text of the view that a branch (docs/branches.md) has in a table's place: what the branch
    has written, which lies in <name>_own, and the rows of production's table, where they are. Both
    sides name partitions as columns, so that Spark prunes those of either.
    Arguments: table (relation of the view), origin (what the text's comment says: of, schema and
    name of production's table; columns, that it had when the branch was made, in lower case; and,
    of the ledger, definition, of the committed loads then; of cdc_loads until, by entity the
    microsecond up to which its rows are shown), columns (of <name>_own, in its order: name,
    dtype). -#}
{%- macro _branch_table_text(table, origin, columns) -%}
{%- set own = spark_cdc._relation_in(table.schema, table.identifier ~ '_own') -%}
select
    /* spark_cdc branch: {{ spark_cdc._comment_json(origin) }} */
    {% for column in columns -%}
    {{ spark_cdc._quote(column.name) }}{{ ',' if not loop.last }}
    {% endfor -%}
from {{ own }}

union all

select
    {%- for column in columns %}
    {{ spark_cdc._aliased(
        spark_cdc._quote(column.name) if column.name | lower in origin.columns else 'cast(null as ' ~ column.dtype ~ ')',
        spark_cdc._quote(column.name)) }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ spark_cdc._relation_in(origin.of.schema, origin.of.name) }}
    {%- if origin.until is defined %} as theirs
where
    not exists (select 1 from {{ own }} as ours where ours.entity = theirs.entity and ours.load_id = theirs.load_id)
    and (
        {%- for until in origin.until.values() | unique | sort %}
        {%- set names = origin.until.items() | selectattr(1, 'equalto', until) | map(attribute=0) | sort %}
    {{ 'or ' if not loop.first }}(entity in ({{ spark_cdc._literals(names) }}) and coalesce(committed_at, started_at) <= timestamp_micros({{ until }}))
        {%- endfor %}
    )
    {%- endif %}
{%- endmacro -%}


{#- What the comment in such a view's text, or in a marker's, says; none where it is no such
    view. -#}
{%- macro _branch_origin(text) -%}
    {%- set comment = (text or '').split('/* spark_cdc branch: ')[1:] | first | default('') -%}
    {{ return(fromjson(comment.split(' */')[0]) if comment else none) }}
{%- endmacro -%}
