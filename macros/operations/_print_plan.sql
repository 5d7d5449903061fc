{#- Says what a load would do, and writes nothing: prints a line of JSON behind a marker, for spark-cdc plan. What came in is landed, staged and tagged by the
    load's own SQL, behind a temporary view of the session that stands for the ledger with this load in it: it is audited as if it had been written. A
    refusal is printed in the same form, with what was known, and then raised.
    Arguments: entity (name). The business date, load type, position and lifts are those of a run. -#}
{%- macro _print_plan(entity) -%}
    {%- set capture = spark_cdc._captures('plan', [entity]) | first -%}
    {%- do spark_cdc._check_plan(capture) -%}
    {%- set run = spark_cdc._run_with_change_feed(spark_cdc._planned_run_to_look_at(capture)) -%}
    {%- set name, entity, ledger = capture.entity.name, run.entity, capture.ledger -%}
    {%- set files = spark_cdc._land_load(entity, spark_cdc._landing_source(entity), run.time, run.load) -%}
    {%- do spark_cdc._set_for_staging() -%}
    {%- set incoming = spark_cdc._plan_view('staged_' ~ name,
            (spark_cdc._stage_events_sql if entity.events else spark_cdc._stage_sql)(entity, spark_cdc._landed_view(entity))) -%}
    {%- if entity.events -%}
        {%- set incoming = spark_cdc._plan_view('read_' ~ name, spark_cdc._once_sql(incoming)) -%}
        {%- set query = spark_cdc._events_query(run, incoming) -%}
        {%- set columns = spark_cdc._load_events_columns(entity, spark_cdc._load_of_comment(query).layout) -%}
        {%- set incoming = spark_cdc._plan_view('planned_' ~ name ~ '_events', spark_cdc._written_rows_sql(columns, query, 'events_of_load')) -%}
        {%- set run = dict(run, events=incoming) -%}
    {%- endif -%}
    {%- set query = spark_cdc._ledger_query(run, incoming) -%}
    {%- set load = dict(
        spark_cdc._load_of_comment(query),
        files=spark_cdc._input_files_noted(files),
        feed=entity.source.get('feed'),
    ) -%}
    {%- set columns = spark_cdc._ledger_columns(entity, load.layout) -%}
    {%- set written = spark_cdc._rows_and_records_sql(columns, [load], query) -%}
    {%- if run.manifest.existed and spark_cdc._is_there(ledger) -%}
        {%- set written = spark_cdc._plan_rows_before_sql(ledger, columns) ~ '\n\nunion all\n\n' ~ written -%}
    {%- endif -%}
    {%- set planned = spark_cdc._plan_view('planned_' ~ name, written) -%}
    {%- set held = spark_cdc._held_rows(dict(run, ledger=planned), load) -%}
    {%- if held.sql -%}
        {%- set written = 'select * from ' ~ planned ~ (" where not (load_id = '" ~ load.load_id ~ "' and operation = 'D')" if held.drops_deletes)
            ~ '\n\nunion all\n\n' ~ spark_cdc._written_rows_sql(columns, held.sql, 'held_rows') -%}
        {%- set planned = spark_cdc._plan_view('planned_' ~ name ~ '_held', written) -%}
    {%- endif -%}
    {%- set audit = spark_cdc._audited_load(dict(run, ledger=planned)).audit -%}
    {%- do spark_cdc._print_plan_of_load(entity, run.load, audit, spark_cdc._planned_statements(capture, run, load, held)) -%}
{%- endmacro -%}


{#- The statements of a load that write its rows, commit and record them, by their beginnings and in their order. Schemas, views of readers and claims of commits
    before are not among them. Arguments: capture, run (of _planned_run()), load (its plan), held (of _held_rows()). -#}
{%- macro _planned_statements(capture, run, load, held) -%}
    {%- set entity, statements, outdated = capture.entity, [], [] -%}
    {%- set is_begun = adapter.check_schema_exists(target.database, capture.schema) -%}
    {%- if is_begun -%}
        {%- set capture = dict(capture, ledger=spark_cdc._own(capture.ledger), events=spark_cdc._own(capture.events), load_log=spark_cdc._own(capture.load_log)) -%}
    {%- endif -%}
    {%- set tables = ([(capture.events, spark_cdc._load_events_columns(entity, load.layout))] if entity.events else [])
            + [(capture.ledger, spark_cdc._ledger_columns(entity, load.layout))] -%}
    {%- set masked = [capture.masked] if entity.sensitive else [] -%}
    {%- for table in masked -%}{%- do tables.append((table, spark_cdc._ledger_columns(entity, load.layout))) -%}{%- endfor -%}
    {%- set is_read_again = entity.events and spark_cdc._can_be_read_again(entity) and not load.events.rejected and spark_cdc._is_read_again_as_typed(entity) -%}
    {%- for table, columns in tables -%}
        {%- if not is_begun or not spark_cdc._is_there(table) -%}
            {%- do statements.append('create table if not exists ' ~ table) -%}
        {%- else -%}
            {%- set found = spark_cdc._found_names(table) -%}
            {%- if columns | map(attribute='at') | map('lower') | reject('in', found) | list -%}{%- do statements.append('alter table ' ~ table ~ ' add columns') -%}{%- endif -%}
            {%- if table == capture.events and not entity.events.archive -%}
                {%- do outdated.extend(spark_cdc._partitions_by_load(table) | select('in', run.load.keep + run.load.replaced)) -%}
            {%- endif -%}
        {%- endif -%}
        {%- if table == capture.ledger or (table not in masked and not is_read_again) -%}{%- do statements.append('insert overwrite table ' ~ table) -%}{%- endif -%}
    {%- endfor -%}
    {%- if spark_cdc._deletes_apart(entity, load) -%}
        {%- do statements.append('insert overwrite table ' ~ capture.ledger) -%}
        {%- if not load.is_checkpoint -%}{%- do statements.append(spark_cdc._planned_drop(entity, capture.ledger)) -%}{%- endif -%}
    {%- endif -%}
    {%- if held.sql -%}{%- do statements.append('insert overwrite table ' ~ capture.ledger) -%}{%- endif -%}
    {%- if held.drops_deletes -%}{%- do statements.append(spark_cdc._planned_drop(entity, capture.ledger)) -%}{%- endif -%}
    {%- for table in masked -%}{%- do statements.append('insert overwrite table ' ~ table) -%}{%- endfor -%}
    {%- do statements.append('create view if not exists ' ~ spark_cdc._claim(capture, run.manifest.sequence + 1)) -%}
    {%- do statements.append(('alter view ' if run.manifest.existed else 'create view if not exists ') ~ capture.committed) -%}
    {%- do statements.append('insert overwrite table ' ~ capture.load_log) -%}
    {%- if outdated -%}{%- do statements.append(spark_cdc._planned_drop(entity, capture.events)) -%}{%- endif -%}
    {{ return(statements) }}
{%- endmacro -%}


{#- How the statement begins that drops partitions of a table, be it there or not. -#}
{%- macro _planned_drop(entity, table) -%}
    {%- set provider = spark_cdc._provider_of(load_cached_relation(table)) or entity.file_format -%}
    {{ return('delete from ' ~ table if provider in spark_cdc._table_formats() else 'alter table ' ~ table ~ ' drop') }}
{%- endmacro -%}


{#- The names of a table's columns, in lower case. -#}
{%- macro _found_names(table) -%}
    {%- set found = [] -%}
    {%- for column in adapter.get_columns_in_relation(table) -%}{%- do found.append(column.name | lower) -%}{%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- What is wrong with the settings and with what the run is given, as validate() asks at the start of a run. -#}
{%- macro _check_plan(capture) -%}
    {%- set name = capture.entity.name -%}
    {%- set settings = spark_cdc._settings_of(spark_cdc.entity_node(name)) -%}
    {%- set problems = spark_cdc._var_problems() + spark_cdc._model_problems(name, settings, capture.ledger_node.unique_id)
            + spark_cdc._run_problems([(name, settings)]) -%}
    {%- if not spark_cdc._is_plainly_staged(name) -%}
        {%- do problems.append('stg_' ~ name ~ ' is more than spark_cdc.stage(), which is all that a plan reads. Load the date (spark-cdc load), and undo it if need be.') -%}
    {%- endif -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error('A load would be refused before anything is written:\n  - ' ~ problems | join('\n  - ')) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Makes a temporary view of this session, and returns its name. -#}
{%- macro _plan_view(name, sql) -%}
    {%- do spark_cdc._send('create or replace temporary view ' ~ name ~ ' as\n' ~ sql) -%}
    {{ return(name) }}
{%- endmacro -%}


{#- The rows of a view, each value worked out before a query that reads them goes on. A load writes its events down before it resolves them; here Spark's
    optimizer would put all that reads and casts a message in the place of each of its columns, wherever one is read, until the expressions fill the heap. It
    does not look into a generator. -#}
{%- macro _once_sql(view) -%}
{%- set names = [] -%}
{%- for column in spark_cdc._query('describe ' ~ view) -%}{%- do names.append(spark_cdc._quote(column.col_name)) -%}{%- endfor -%}
select stack(1, {{ names | join(', ') }}) as ({{ names | join(', ') }})
from {{ view }}
{%- endmacro -%}


{#- The ledger's rows in the columns that it would have with a load. -#}
{%- macro _plan_rows_before_sql(ledger, columns) -%}
{%- set found = spark_cdc._found_names(ledger) -%}
select
    {%- for column in columns %}
    {{ column.at_sql if column.at | lower in found else 'cast(null as ' ~ column.data_type ~ ') as ' ~ column.at_sql }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ ledger }}
{%- endmacro -%}
