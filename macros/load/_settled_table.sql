{#- Makes sure that a table is there with the columns that are written, and returns all that it has, in its order: an insert goes by position.
    Arguments: entity, table (relation), columns (that are written, with the names where they lie), partitions (names), hashes (names of
    hash columns), is_kept (as of _create_table_sql()). -#}
{%- macro _settled_table(entity, table, columns, partitions, hashes, is_kept=true) -%}
    {%- set existing = load_cached_relation(table) -%}
    {%- if existing is not none -%}
        {%- do spark_cdc._note_file_format(entity, existing) -%}
        {%- set columns = spark_cdc._settled_columns(entity, table, columns, partitions) -%}
    {%- elif spark_cdc._is_there(table) -%}
        {%- set message -%}
{{ entity.name }}: {{ table }} is there, but dbt did not see it when this run began: another run has just made it, or the metastore did not answer. {# -#}
Nothing was written. Run the same command again.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- if existing is none or load_cached_relation(table) is none -%}  {#- or it was set aside just now -#}
        {%- do spark_cdc._send(spark_cdc._create_table_sql(table, columns, entity.file_format, partitions, hashes, is_kept)) -%}
        {%- do adapter.cache_added(table.incorporate(type='table', information='')) -%}
    {%- endif -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- Missing columns are added, which harms nobody if the load comes to nothing; those that the table has beyond are named none. A ledger that
    is wiped with columns of other types is set aside under another name, not dropped. -#}
{%- macro _settled_columns(entity, table, columns, partitions) -%}
    {%- set wanted = dict(zip(columns | map(attribute='at') | map('lower'), columns)) -%}
    {%- set settled, partitioned, problems = [], [], [] -%}
    {%- for found in spark_cdc._cached_columns(table, columns) or adapter.get_columns_in_relation(table) -%}
        {%- set column = wanted.pop(found.name | lower, none) or {'name': none, 'at_sql': spark_cdc._quote(found.name), 'data_type': found.dtype} -%}
        {%- if spark_cdc._plain_type(column.data_type) != spark_cdc._plain_type(found.dtype) -%}
            {%- do problems.append(table ~ " has a column '" ~ found.name ~ "' of the type " ~ found.dtype ~ ', and not ' ~ column.data_type) -%}
        {%- endif -%}
        {%- do (partitioned if found.name in partitions else settled).append(column) -%}
    {%- endfor -%}
    {%- if problems and not spark_cdc._is_wiped(entity.name) -%}
        {%- do spark_cdc._refuse_definition(entity, problems) -%}
    {%- elif problems -%}
        {%- set aside = spark_cdc._sibling(table.identifier ~ '_before_' ~ spark_cdc._attempt()) -%}
        {%- do log(entity.name ~ ': the ledger had other columns and is kept as ' ~ aside ~ '; drop it when nobody needs it. '
            ~ 'Sessions that are open already have to run: refresh table ' ~ table, info=true) -%}
        {%- do spark_cdc._send('alter table ' ~ table ~ ' rename to ' ~ aside) -%}
        {%- do adapter.cache_dropped(table) -%}
        {{ return(columns) }}
    {%- endif -%}
    {%- if wanted -%}
        {%- set added -%}
            {%- for column in wanted.values() %}{{ column.at_sql }} {{ column.data_type }}{{ ', ' if not loop.last }}{% endfor -%}
        {%- endset -%}
        {%- do spark_cdc._send('alter table ' ~ table ~ ' add columns (' ~ added ~ ')') -%}
        {%- do log(entity.name ~ ': ' ~ table ~ ' gets the columns ' ~ added ~ '. Sessions that have read it and are still open have to run: '
            ~ 'refresh table ' ~ table, info=true) -%}
    {%- endif -%}
    {{ return(settled + wanted.values() | list + partitioned) }}
{%- endmacro -%}


{#- The format is the table's own once it is there: a setting that differs counts for new tables, and the log says so. -#}
{%- macro _note_file_format(entity, table) -%}
    {%- set found = modules.re.search('(?m)^ *Provider: *([a-zA-Z0-9_.]+)', table.information or '') -%}
    {%- if found and found.group(1) | lower != entity.file_format -%}
        {%- do log(entity.name ~ ': ' ~ table ~ ' is there and stays ' ~ found.group(1) | lower ~ '; file_format ' ~ entity.file_format
            ~ ' counts for new tables', info=true) -%}
    {%- endif -%}
{%- endmacro -%}
