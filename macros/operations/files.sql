{#- A part of state(), for spark-cdc files: the files of the ledger that a view reads, for engines
    that read files and no views (docs/reading_elsewhere.md). Spark is asked which files it reads of
    the active loads: its folder holds refused and replaced loads, too. Of an entity with sensitive
    columns it is the ledger that shows masks. Argument: view (current or history). Returns a
    dictionary: view, format, commit (its number), loads (names), columns (a dictionary from the
    stored columns to their names in the files), files (dictionaries: path (a URI), load_id,
    operation, rows, bytes). -#}
{%- macro _state_files(ctx, view='current') -%}
    {%- set entity, timeline, ledger, files = ctx.entity, ctx.timeline, ctx.public, [] -%}
    {%- do spark_cdc._stop('files', spark_cdc._file_problems(ctx, view), 'No file was listed.', entity) -%}
    {%- set state, columns = spark_cdc._state_loads(timeline.loads), {} -%}
    {%- for column in spark_cdc._placed_columns(entity.stored, timeline.layout) -%}{%- do columns.update({column.name: column.at}) -%}{%- endfor -%}
    {%- set parts = [(timeline.loads, 'changes')] if view == 'history'
        else [([state.base] if state.base else [], 'existing'), (state.log, 'visible')] -%}
    {%- set conditions = [] -%}
    {%- for loads, group in parts if loads -%}
        {%- do conditions.append('(' ~ spark_cdc._in_loads(loads) ~ ' and operation in ' ~ spark_cdc._operations(group) ~ ')') -%}
    {%- endfor -%}
    {%- set sql -%}
select
    {{ spark_cdc._of_file('path') }} as path,
    load_id,
    operation,
    count(*) as row_count,
    max({{ spark_cdc._of_file('size') }}) as length
from {{ ledger }}
where {{ conditions | join(' or ') }}
group by path, load_id, operation
order by load_id, operation, path
    {%- endset -%}
    {%- for row in spark_cdc._query(sql) -%}
        {%- do files.append({'path': row.path, 'load_id': row.load_id, 'operation': row.operation, 'rows': row.row_count | int, 'bytes': row.length | int}) -%}
    {%- endfor -%}
    {{ return({
        'view': view, 'format': spark_cdc._provider_of(spark_cdc._known(ledger)), 'commit': timeline.sequence,
        'loads': timeline.loads if view == 'history' or not state.base else [state.base] + state.log, 'columns': columns, 'files': files,
    }) }}
{%- endmacro -%}


{#- Why the files of an entity alone don't say what a view shows (texts). -#}
{%- macro _file_problems(ctx, view) -%}
    {%- set name, timeline = ctx.entity.name, ctx.timeline -%}
    {%- if not timeline.loads -%}{{ return(['no load is committed. Load a business date: ' ~ spark_cdc._load_command(ctx.entity, none)]) }}{%- endif -%}
    {%- set table_format, behind = spark_cdc._table_format(ctx.public), spark_cdc._behind_columns(ctx.entity, timeline.definition) -%}
    {%- set problems = [] -%}
    {%- if table_format -%}
        {%- do problems.append(ctx.public ~ ' is a table of ' ~ table_format ~ ', whose own log says which rows of a file count (deletion vectors, delete files). '
            ~ "Publish the entity, and read that table by its format: {{ spark_cdc.publish('" ~ name ~ "', format='" ~ table_format ~ "') }}") -%}
    {%- endif -%}
    {%- if spark_cdc._write_target(ctx.public) != ctx.public -%}
        {%- do problems.append('this is a branch, whose ledger is a view of two tables. Run the command without --branch and SPARK_CDC_BRANCH, for production') -%}
    {%- endif -%}
    {%- if behind -%}
        {%- do problems.append('the columns of stg_' ~ name ~ ' are not those of the last load. Load a business date, which applies the change: '
            ~ spark_cdc._load_command(ctx.entity, none)) -%}
    {%- endif -%}
    {%- if view == 'history' and timeline.layout -%}
        {%- do problems.append('columns were renamed or got another type, default or key, so older files hold other values than ' ~ name
            ~ '_history shows. Read that view by Spark, or list the files of the current state: spark-cdc files ' ~ name) -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}
