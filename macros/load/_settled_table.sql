{#- Makes sure that a table is there with the columns that are written, and returns all that it has, in its order: an insert goes by position.
    Arguments: entity, table (relation), columns (that are written, with the names where they lie), partitions (names), hashes (names of
    hash columns), is_kept (as of _create_table_sql()), begun (capture of an entity of which the load at hand may be the first). -#}
{%- macro _settled_table(entity, table, columns, partitions, hashes, is_kept=true, begun=none) -%}
    {%- set shown, table = table, spark_cdc._own(table) -%}
    {%- set existing = load_cached_relation(table) -%}
    {%- if existing is not none -%}
        {%- set columns = spark_cdc._settled_columns(entity, table, columns, partitions, shown, begun) -%}
    {%- elif spark_cdc._is_there(table) -%}
        {%- set message -%}
{{ entity.name }}: {{ table }} is there, but dbt did not see it when this run began: another run has just made it, or the metastore did not answer. {# -#}
Nothing was written. Run the same command again.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- if existing is none or load_cached_relation(table) is none -%}  {#- or it was set aside just now -#}
        {%- if entity.file_format in spark_cdc._table_formats() -%}{%- do spark_cdc._check_table_format(entity, table) -%}{%- endif -%}
        {%- if entity.file_format == 'delta' -%}{%- do spark_cdc._drop_begun_delta_table(entity, table) -%}{%- endif -%}
        {%- do spark_cdc._send(spark_cdc._create_table_sql(table, columns, entity.file_format, partitions, hashes, is_kept)) -%}
        {%- do adapter.cache_added(table.incorporate(type='table', information='Provider: ' ~ entity.file_format)) -%}
    {%- endif -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- Missing columns are added, which harms nobody if the load comes to nothing; those that the table has beyond are named none. A table of which no load counts follows
    the YAML, and so does a ledger that is wiped with columns of other types: it is set aside under another name, not dropped; in a branch it can't be, where
    production's rows have them, too. Argument: shown (relation that readers have in the table's place: a view in a branch, else the table). -#}
{%- macro _settled_columns(entity, table, columns, partitions, shown, begun=none) -%}
    {%- set wanted = dict(zip(columns | map(attribute='at') | map('lower'), columns)) -%}
    {%- set settled, partitioned, problems = [], [], [] -%}
    {#- a table format has its partitions where they were declared, and what the metastore shows of it may be old -#}
    {%- set is_plain = not spark_cdc._table_format(table) -%}
    {%- for found in (spark_cdc._cached_columns(table, columns) if is_plain else []) or adapter.get_columns_in_relation(table) -%}
        {%- set column = wanted.pop(found.name | lower, none) or {'name': none, 'at_sql': spark_cdc._quote(found.name), 'data_type': found.dtype} -%}
        {%- if spark_cdc._plain_type_shown(column.data_type) != spark_cdc._plain_type_shown(found.dtype) -%}
            {%- do problems.append(table ~ " has a column '" ~ found.name ~ "' of the type " ~ found.dtype ~ ', and not ' ~ column.data_type) -%}
        {%- endif -%}
        {%- do (partitioned if is_plain and found.name in partitions else settled).append(column) -%}
    {%- endfor -%}
    {%- set is_other = problems or settled | selectattr('name', 'none') | list or spark_cdc._has_other_format(entity, table) -%}
    {%- set is_unused = is_other and begun is not none and spark_cdc._is_unused(begun) -%}
    {%- if problems and (shown != table or not (spark_cdc._is_wiped(entity.name) or is_unused)) -%}
        {%- do spark_cdc._refuse_definition(entity, problems) -%}
    {%- elif shown == table and (problems or is_unused) -%}
        {%- set aside = spark_cdc._relation_in(table.schema, table.identifier ~ '_before_' ~ spark_cdc._attempt()) -%}
        {%- do log(entity.name ~ ': ' ~ table ~ ' was made for other columns' ~ (', no load of it counts,' if is_unused else '') ~ ' and is kept as ' ~ aside
            ~ '; drop it when nobody needs it. Sessions that are open already have to run: refresh table ' ~ table, info=true) -%}
        {%- do spark_cdc._send('alter table ' ~ table ~ ' rename to ' ~ aside) -%}
        {%- do adapter.cache_dropped(table) -%}
        {{ return(columns) }}
    {%- endif -%}
    {%- do spark_cdc._note_file_format(entity, load_cached_relation(table)) -%}
    {%- if wanted -%}
        {%- set added -%}
            {%- for column in wanted.values() %}{{ column.at_sql }} {{ column.data_type }}{{ ', ' if not loop.last }}{% endfor -%}
        {%- endset -%}
        {%- do spark_cdc._send('alter table ' ~ table ~ ' add columns (' ~ added ~ ')') -%}
        {%- if shown != table -%}{%- do spark_cdc._show_branch_columns(shown) -%}{%- endif -%}
        {%- do log(entity.name ~ ': ' ~ table ~ ' gets the columns ' ~ added ~ '. Sessions that have read it and are still open have to run: '
            ~ 'refresh table ' ~ table, info=true) -%}
    {%- endif -%}
    {{ return(settled + wanted.values() | list + partitioned) }}
{%- endmacro -%}


{#- The format is the table's own once it is there: a setting that differs counts for new tables, and the log says so. What ORC does not keep
    (_orc_misfit(), names with backticks) is looked for by the setting alone, so an ORC table has to be known as one. -#}
{%- macro _note_file_format(entity, table) -%}
    {%- set found, misfits = spark_cdc._provider_of(table), [] -%}
    {%- for column in entity.stored if found == 'orc' and entity.file_format != 'orc' -%}
        {%- do misfits.append(column.name) if spark_cdc._orc_misfit(spark_cdc._hash_type(column.data_type), '') or '`' in column.name ~ column.data_type -%}
    {%- endfor -%}
    {%- if misfits -%}
        {%- set message -%}
{{ entity.name }}: {{ table }} is an ORC table, but file_format is '{{ entity.file_format }}', so that what ORC does not keep would not be found in {# -#}
{{ misfits | join(', ') }}. Say file_format: orc in the YAML of stg_{{ entity.name }}. Nothing was written.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- if found and found != entity.file_format -%}
        {%- do log(entity.name ~ ': ' ~ table ~ ' is there and stays ' ~ found ~ '; file_format ' ~ entity.file_format
            ~ ' counts for new tables', info=true) -%}
    {%- endif -%}
{%- endmacro -%}


{%- macro _has_other_format(entity, table) -%}
    {{ return((spark_cdc._provider_of(load_cached_relation(table)) or entity.file_format) != entity.file_format) }}
{%- endmacro -%}


{#- Whether nothing in the ledger is, or could by redo become, what readers see: all loads so far were refused. -#}
{%- macro _is_unused(capture) -%}
    {%- set head = spark_cdc._head(capture, is_planned=true) -%}
    {{ return(not head.loads and not head.get('undone')) }}
{%- endmacro -%}
