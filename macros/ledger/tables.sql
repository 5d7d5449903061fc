{#- Makes sure that a table is there with the columns that are written, and returns all that it has,
    in its order: an insert goes by position.
    Arguments: ctx, name (ledger, public, events or input), load (its plan; one that neither has a
    parent nor replaces another may be the entity's first), columns (of input: _keep_input()). -#}
{%- macro _ensure_table(ctx, name, load, columns=none) -%}
    {%- set entity, table = ctx.entity, ctx.write[name] -%}
    {%- set columns = columns or (spark_cdc._load_events_columns if name == 'events' else spark_cdc._ledger_columns)(entity, load.layout) -%}
    {%- set is_first = not load.get('parent') and not load.get('replaced') -%}
    {%- set existing = spark_cdc._known(table) -%}
    {%- if existing is not none -%}
        {%- set columns = spark_cdc._settled_columns(entity, table, columns, ctx[name], ctx if is_first else none) -%}
    {%- elif spark_cdc._is_there(table) -%}
        {%- set message -%}
{{ entity.name }}: {{ table }} is there, but dbt did not see it when this run began: another run has just made it, or the metastore did not answer. {# -#}
Nothing was written. Run the same command again.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- if existing is none or spark_cdc._known(table) is none -%}
        {#- or it was set aside just now -#}
        {%- set facts = spark_cdc._table_facts(entity.file_format) -%}
        {%- if facts.has_log -%}{%- do spark_cdc._check_table_format(entity, table) -%}{%- endif -%}
        {%- if facts.log_folder and spark_cdc._platform().has_folders -%}
            {#- What a full disk, or a server that died, has left of a Delta table that was being
                made: a log without a version, for which Delta refuses to make the table ever after
                (DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION). Nothing was ever in it, so it is
                dropped. A folder that holds anything else stays, and Delta says so. A table's first
                version is written right after its log's folder, so another run that is making it
                now has hardly ever none: it is looked at twice. -#}
            {%- set location = spark_cdc._schema_location(table.schema) if ctx.load_log is not none else none -%}
            {%- if location -%}
                {%- set folder, looks = location ~ '/' ~ table.identifier, [] -%}
                {%- set log_folder = folder ~ '/' ~ facts.log_folder -%}
                {%- for _ in range(2) -%}
                    {%- do looks.append(none not in looks and not spark_cdc._lacks_path(log_folder) and spark_cdc._lacks_path(log_folder ~ '/*.{json,parquet}')
                        and spark_cdc._lacks_path(folder ~ '/[^_]*')) -%}
                {%- endfor -%}
                {%- if looks | select | list | length == 2 and not spark_cdc._is_there(table) -%}
                    {%- do log(entity.name ~ ': drops ' ~ folder ~ ', in which a statement that broke off has left the log of a Delta table without a version', info=true) -%}
                    {%- do spark_cdc._ensure_load_log(ctx.load_log) -%}
                    {%- do spark_cdc._drop_folder(ctx.write.load_log, folder) -%}
                {%- endif -%}
            {%- endif -%}
        {%- endif -%}
        {%- set hashes = [] if name == 'input' else ['key_hash', 'event_hash' if name == 'events' else 'nonkey_hash'] -%}
        {%- do spark_cdc._send(spark_cdc._create_table_sql(
            table, columns, entity.file_format, spark_cdc._partition_names(table), hashes, name != 'events' or entity.events.archive)) -%}
        {%- do spark_cdc._note_relation(table, 'table', 'Provider: ' ~ entity.file_format) -%}
    {%- endif -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- Missing columns are added, which harms nobody if the load comes to nothing; those that the table
    has beyond are named none. A table of which no load counts follows the YAML, and so does a
    ledger that is reset with columns of other types: it is set aside under another name, not
    dropped; in a branch it can't be, where production's rows have them, too.
    Arguments: shown (relation that readers have in the table's place: a view in a branch, else the
    table), begun (ctx of an entity of which the load at hand may be the first). -#}
{%- macro _settled_columns(entity, table, columns, shown, begun=none) -%}
    {%- set partitions = spark_cdc._partition_names(table) -%}
    {%- set wanted = dict(zip(columns | map(attribute='at') | map('lower'), columns)) -%}
    {%- set settled, partitioned, problems = [], [], [] -%}
    {#- a table format has its partitions where they were declared, and what the metastore shows of
        it may be old -#}
    {%- set is_plain = not spark_cdc._table_format(table) -%}
    {%- for found in (spark_cdc._cached_columns(table, columns) if is_plain else []) or adapter.get_columns_in_relation(table) -%}
        {%- set column = wanted.pop(found.name | lower, none) or {'name': none, 'at_sql': spark_cdc._quote(found.name), 'data_type': found.dtype} -%}
        {%- if spark_cdc._plain_type_shown(column.data_type) != spark_cdc._plain_type_shown(found.dtype) -%}
            {%- do problems.append(table ~ " has a column '" ~ found.name ~ "' of the type " ~ found.dtype ~ ', and not ' ~ column.data_type) -%}
        {%- endif -%}
        {%- do (partitioned if is_plain and found.name in partitions else settled).append(column) -%}
    {%- endfor -%}
    {%- set format = spark_cdc._provider_of(spark_cdc._known(table)) or entity.file_format -%}
    {%- set is_other = problems or settled | selectattr('name', 'none') | list or format != entity.file_format -%}
    {%- set timeline = spark_cdc._current_timeline(begun, is_planned=true) if is_other and begun is not none else none -%}
    {%- set is_unused = timeline is not none and not timeline.loads and not timeline.undone -%}
    {%- if problems and (shown != table or not (spark_cdc._is_reset(entity.name) or is_unused)) -%}
        {%- do spark_cdc._refuse_definition(entity, problems) -%}
    {%- elif shown == table and (problems or is_unused) -%}
        {%- set aside = spark_cdc._relation_in(table.schema, table.identifier ~ '_before_' ~ spark_cdc._run_id8()) -%}
        {%- do log(entity.name ~ ': ' ~ table ~ ' was made for other columns' ~ (', no load of it counts,' if is_unused else '') ~ ' and is kept as ' ~ aside
            ~ '; drop it when nobody needs it. Sessions that are open already have to run: refresh table ' ~ table, info=true) -%}
        {%- do spark_cdc._rename_table(table, aside) -%}
        {%- do spark_cdc._note_dropped(table) -%}
        {{ return(columns) }}
    {%- endif -%}
    {%- do spark_cdc._note_file_format(entity, spark_cdc._known(table)) -%}
    {%- if wanted -%}
        {%- set added = [] -%}
        {%- for column in wanted.values() -%}{%- do added.append(column.at_sql ~ ' ' ~ column.data_type) -%}{%- endfor -%}
        {%- do spark_cdc._add_columns(table, added) -%}
        {%- if shown != table -%}{%- do spark_cdc._show_branch_columns(shown, table) -%}{%- endif -%}
        {%- do log(entity.name ~ ': ' ~ table ~ ' gets the columns ' ~ added | join(', ') ~ '. Sessions that have read it and are still open have to run: '
            ~ 'refresh table ' ~ table, info=true) -%}
    {%- endif -%}
    {{ return(settled + wanted.values() | list + partitioned) }}
{%- endmacro -%}


{#- The format is the table's own once it is there: a setting that differs counts for new tables,
    and the log says so. What ORC does not keep (_orc_misfit(), names with backticks) is looked for
    by the setting alone, so an ORC table has to be known as one. -#}
{%- macro _note_file_format(entity, table) -%}
    {%- set found, misfits = spark_cdc._provider_of(table), [] -%}
    {%- for column in entity.stored if spark_cdc._table_facts(found).is_narrow and not spark_cdc._table_facts(entity.file_format).is_narrow -%}
        {%- do misfits.append(column.name) if spark_cdc._orc_misfit(spark_cdc._hash_type(column.data_type), '') or '`' in column.name ~ column.data_type -%}
    {%- endfor -%}
    {%- if misfits -%}
        {%- set message -%}
{{ entity.name }}: {{ table }} is an {{ found | upper }} table, but file_format is '{{ entity.file_format }}', so that what {{ found | upper }} does not keep would not be found in {# -#}
{{ misfits | join(', ') }}. Say file_format: {{ found }} in the YAML of stg_{{ entity.name }}. Nothing was written.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- if found and found != entity.file_format -%}
        {%- do log(entity.name ~ ': ' ~ table ~ ' is there and stays ' ~ found ~ '; file_format ' ~ entity.file_format
            ~ ' counts for new tables', info=true) -%}
    {%- endif -%}
{%- endmacro -%}


{#- What becomes of a table of loads where nothing is loaded, with --empty and --sample, and without
    a business date: it is created if it is not there. One of which no load counts follows the
    YAML, so that a project can be built again and again before its first load. Arguments as of
    _ensure_table(). -#}
{%- macro _create_only(ctx, name, load) -%}
    {%- set table = ctx.write[name] -%}
    {%- if spark_cdc._mode() != 'load' -%}
        {%- do log(ctx.entity.name ~ ': nothing is loaded with --empty or --sample; ' ~ table ~ ' is made if it is not there', info=true) -%}
    {%- endif -%}
    {%- set cached = spark_cdc._known(table) -%}
    {#- in a branch a view has the table's name -#}
    {%- set is_table = cached is not none and not spark_cdc._is_view_in(cached.information) -%}
    {%- set timeline = spark_cdc._current_timeline(ctx) if is_table else none -%}
    {%- if cached is none or timeline is not none and not timeline.loads and not timeline.undone -%}
        {%- do spark_cdc._ensure_table(ctx, name, load) -%}
    {%- endif -%}
    {%- do spark_cdc._note_not_loaded(ctx.entity.name) -%}
{%- endmacro -%}


{#- What dbt prints of a model that a run leaves unloaded. Argument: name (of the entity). -#}
{%- macro _note_not_loaded(name) -%}
    {%- set message = 'NOT LOADED' if spark_cdc._mode() == 'load' and not spark_cdc._is_loading(name) else 'OK' -%}
    {%- do store_raw_result('main', message=message, code=message, rows_affected='-1') -%}
{%- endmacro -%}


{#- The columns of a table as dbt's look at the catalogue has them, if they are the wanted ones and
    plain: an empty list where they are not, or where a type is not told whole.
    Arguments: table (relation), columns (that are written, see _ensure_table()). Returns
    dictionaries: name, dtype. -#}
{%- macro _cached_columns(table, columns) -%}
    {%- set types = {} -%}
    {%- for column in columns -%}{%- do types.update({column.at | lower: spark_cdc._plain_type(column.data_type)}) -%}{%- endfor -%}
    {%- set cached, found = spark_cdc._known(table), [] -%}
    {%- for line in ((cached.information if cached else none) or '').split('\n') if line.startswith(' |-- ') and ': ' in line -%}
        {%- set name, dtype = line[5:].rsplit(' (nullable = ', 1)[0].rsplit(': ', 1) -%}
        {%- if types.pop(name | lower, none) == spark_cdc._plain_type(dtype) -%}{%- do found.append({'name': name, 'dtype': dtype}) -%}
        {%- else -%}{{ return([]) }}{%- endif -%}
    {%- endfor -%}
    {{ return(found if not types else []) }}
{%- endmacro -%}


{#- How the files are written that a state is laid out in, for the next statement of this session:
    it is shuffled in small parts, of which as many go into a file as have 128 MB (Spark counts
    bytes as they are shuffled, of which Parquet makes less); and timestamps as numbers, for Spark's
    own default (INT96) has no minimum and maximum by which readers could skip.
    Arguments: rows (none after it: the session's own settings again). -#}
{%- macro _set_file_size(rows=none) -%}
    {%- for name, value in {
        'adaptive.advisoryPartitionSizeInBytes': '128m',
        'adaptive.coalescePartitions.initialPartitionNum': [[32, (rows or 0) // 200000] | max, 10000] | min,
        'parquet.outputTimestampType': 'TIMESTAMP_MICROS',
    }.items() -%}
        {%- do spark_cdc._set('spark.sql.' ~ name, none if rows is none else value) -%}
    {%- endfor -%}
{%- endmacro -%}


{#- What a new table of Delta or Iceberg needs of the server, asked before anything is written: that
    it keeps such tables in the session's catalog, where the views are, too. With Iceberg's
    extension of SQL views would be Iceberg's, which can't be altered in place; and sessions are not
    to go on reading a table as they found it, for half a minute by default: readers would see a
    load without its rows.
    Arguments: entity, table (relation). -#}
{%- macro _check_table_format(entity, table) -%}
    {%- if spark_cdc._platform().ledgers -%}{{ return('') }}{%- endif -%}
    {%- set format, session_catalog = entity.file_format, 'spark.sql.catalog.spark_catalog' -%}
    {%- set facts, found = spark_cdc._table_facts(format), {} -%}
    {%- for name in [session_catalog, session_catalog ~ '.cache-enabled', 'spark.sql.extensions'] -%}
        {%- do found.update({name: spark_cdc._setting(name)}) -%}
    {%- endfor -%}
    {%- set catalog = found[session_catalog] -%}
    {%- set problem -%}
        {%- if facts.catalog not in catalog -%}
the server does not keep such tables beside views ({{ session_catalog }} is {{ catalog }}). Start the local one with them: spark-cdc server stop, {# -#}
then spark-cdc server start --with {{ format }}{{ ' alone (beside Delta, Iceberg has a catalog of its own)' if facts.own_views and 'Delta' in catalog }}
        {%- elif facts.own_views and format in found['spark.sql.extensions'] -%}
with Iceberg's extension of SQL the server makes views of Iceberg's own, which can't be altered in place. Start it without that in {# -#}
spark.sql.extensions, as spark-cdc server start --with iceberg does: Spark 4 needs it neither for merge nor for call
        {%- elif facts.own_views and found[session_catalog ~ '.cache-enabled'] != 'false' -%}
sessions of the server go on reading Iceberg's tables as they found them, so that readers would miss rows of new loads. Start it with {# -#}
{{ session_catalog }}.cache-enabled=false, as spark-cdc server start --with iceberg does
        {%- endif -%}
    {%- endset -%}
    {%- if problem -%}
        {%- do exceptions.raise_compiler_error(
            entity.name ~ ': file_format is ' ~ format ~ ', but ' ~ problem ~ '. ' ~ table ~ ' was not made, and nothing was written; docs/file_formats.md tells more.'
        ) -%}
    {%- endif -%}
{%- endmacro -%}
