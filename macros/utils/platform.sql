{#- What differs by platform and catalogue is in this file: the statements that ask the catalogue,
    settings of a session, how a load's partitions and a view's text are written. Other files call
    these macros and send no such statement (tests/test_layout.py).
    A platform is a row here, and nothing else asks which one a run has. What is so unless a row
    says otherwise:
    adapters       types of targets that are this platform
    catalogs       of targets of the type spark: what the class of the session's catalog has in its
                   name
    replaces_views how a view gets another text: `alter view` (in place) or
                   `create or replace view`
    ledgers        formats of the tables that a run makes; none: any (docs/file_formats.md)
    settings       that a session takes: Spark's names to the platform's; none: any, by Spark's name
    overwrites     what a write replaces: `partitions` (that it brings rows of) or `where` (rows
                   for which a condition holds)
    has_folders    whether statements reach the files of tables: by their path, and as partitions
                   that the catalogue registers
    is_cached      whether dbt's cache holds what `show table extended` says
    lists_views    whether that and `show tables` have views, too
    has_options    whether queries on paths take options; none: from Spark 4 on
    purges         how a table is dropped so that its files go
    file_name      the file of a row, as SQL
    knows_in_views whether that holds of rows of a temporary view on files, too -#}
{%- macro _platforms() -%}
    {%- set row = {
        'adapters': [], 'catalogs': none, 'replaces_views': 'alter view', 'ledgers': none, 'settings': none,
        'overwrites': 'partitions', 'has_folders': true, 'is_cached': true, 'lists_views': true, 'has_options': none, 'purges': ' purge',
        'file_name': 'input_file_name()', 'knows_in_views': true,
    } -%}
    {{ return({
        'hive': dict(row, name='hive'),
        'iceberg': dict(
            row, name='iceberg', catalogs='iceberg.spark.sparkcatalog', replaces_views='create or replace view', ledgers=['iceberg'],
            has_folders=false, is_cached=false, lists_views=false
        ),
        'unity': dict(
            row, name='unity', adapters=['databricks'], ledgers=['delta'], overwrites='where', has_folders=false,
            is_cached=false, has_options=true, purges='', file_name='_metadata.file_path', knows_in_views=false,
            settings={
                'spark.sql.legacy.timeParserPolicy': 'LEGACY_TIME_PARSER_POLICY',
                'spark.sql.files.maxPartitionBytes': 'MAX_FILE_PARTITION_BYTES',
            }
        ),
    }) }}
{%- endmacro -%}


{#- The row of this run: of the var spark_cdc_platform, else of the target's type, else of the
    session's catalog once that was asked for (_other_platform()), else Hive's, as in parse and
    compile. -#}
{%- macro _platform() -%}
    {%- set memo = spark_cdc._memo() -%}
    {%- if 'platform' not in memo -%}
        {%- set rows, type = spark_cdc._platforms(), (target.type | default('spark')) if target is defined else 'spark' -%}
        {#- another name than these is reported: _var_problems() -#}
        {%- set found = [rows.get(var('spark_cdc_platform', none))] | select | list -%}
        {%- for row in rows.values() if type in row.adapters -%}{%- do found.append(row) -%}{%- endfor -%}
        {%- do memo.update({'platform': (found + [rows.hive]) | first}) -%}
        {{ return((found + [rows.hive]) | first) }}
    {%- endif -%}
    {{ return(memo.platform) }}
{%- endmacro -%}


{#- Asks the server once which platform it is, where neither a var nor the target's type says so;
    for the rest of the run _platform() is what is found. A platform is offered once its loads were
    seen to commit. Returns what is wrong with it: {catalog, kind, why (a clause)}, or none. -#}
{%- macro _other_platform() -%}
    {%- set memo = spark_cdc._memo() -%}
    {%- if 'other platform' not in memo -%}
        {%- set other = spark_cdc._wrong_platform() -%}
        {%- do memo.update({'other platform': other}) -%}
        {{ return(other) }}
    {%- endif -%}
    {{ return(memo['other platform']) }}
{%- endmacro -%}


{%- macro _wrong_platform() -%}
    {%- set named = spark_cdc._platform() if var('spark_cdc_platform', none) or spark_cdc._platform().adapters else none -%}
    {%- if named is not none and not named.catalogs -%}{{ return(none) }}{%- endif -%}
    {%- if target.type != 'spark' -%}{{ return({'catalog': none, 'kind': target.type, 'why': none}) }}{%- endif -%}
    {%- set catalog = spark_cdc._server().catalog -%}
    {%- if catalog == 'spark_catalog' and named is none -%}{{ return(none) }}{%- endif -%}
    {%- set kind = spark_cdc._setting('spark.sql.catalog.' ~ catalog) -%}
    {%- for row in spark_cdc._platforms().values() if row.catalogs and row.catalogs in kind | lower -%}
        {%- set why = spark_cdc._iceberg_problem('spark.sql.catalog.' ~ catalog) -%}
        {%- if why is none -%}{%- do spark_cdc._memo().update({'platform': dict(row, catalog=catalog)}) -%}{%- endif -%}
        {{ return({'catalog': catalog, 'kind': kind, 'why': why} if why is not none else none) }}
    {%- endfor -%}
    {%- set probe = 'create view ' ~ spark_cdc._quote(target.schema) ~ '.spark_cdc_probe as select 1 as id' -%}
    {%- set refused = spark_cdc._plan_refusal(spark_cdc._plan(probe)) -%}
    {%- set why = 'which has no views (' ~ refused ~ ')' if refused is not none
        else 'which is not what the var spark_cdc_platform names' if named is not none
        else "whose views are Iceberg's own" if 'iceberg' in kind | lower else none -%}
    {{ return({'catalog': catalog, 'kind': kind, 'why': why} if why is not none else none) }}
{%- endmacro -%}


{#- Why loads can't commit in one of Iceberg's catalogs, as a clause; none if they can. A commit
    needs a name that one of several sessions gets, and a view whose text is replaced as a whole:
    tests/test_catalogues.py shows both of these two. Argument: place (of the catalog's
    settings). -#}
{%- macro _iceberg_problem(place) -%}
    {%- set found = {} -%}
    {%- for name in ['type', 'catalog-impl', 'jdbc.schema-version', 'cache-enabled'] -%}
        {%- do found.update({name: spark_cdc._setting(place ~ '.' ~ name)}) -%}
    {%- endfor -%}
    {%- set classes = {'org.apache.iceberg.jdbc.JdbcCatalog': 'jdbc', 'org.apache.iceberg.rest.RESTCatalog': 'rest'} -%}
    {%- set type = found.type | lower if found.type != '<undefined>' else classes.get(found['catalog-impl'], found['catalog-impl']) -%}
    {%- if type not in ['jdbc', 'rest'] -%}
        {{ return('whose type is ' ~ type ~ ': commits replace views as a whole, which was seen in catalogs of the types jdbc and rest alone') }}
    {%- elif type == 'jdbc' and found['jdbc.schema-version'] | upper != 'V1' -%}
        {{ return('which has no views without ' ~ place ~ '.jdbc.schema-version=V1') }}
    {%- elif found['cache-enabled'] != 'false' -%}
        {{ return('whose sessions go on with tables as they first read them, and so miss rows of new loads, without ' ~ place ~ '.cache-enabled=false') }}
    {%- endif -%}
    {%- if 'iceberg' not in spark_cdc._setting('spark.sql.extensions') | lower -%}
        {{ return("which has no views without Iceberg's extension in spark.sql.extensions (org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions)") }}
    {%- endif -%}
    {#- a path in a query is looked for as a table first -#}
    {%- set refused = spark_cdc._plan_refusal(spark_cdc._plan('select 1 from text.`/spark_cdc/probe`')) -%}
    {{ return('whose server refuses names with a slash, such as paths of files (' ~ refused.split('<')[0] | trim ~ '): set spark.sql.catalog.text and the like (docs/iceberg_catalogues.md)'
        if refused is not none and 'PATH_NOT_FOUND' not in refused else none) }}
{%- endmacro -%}


{#- The catalog of relations that a run makes: the profile's; dbt-spark has none. -#}
{%- macro _database() -%}{{ return(target.database if target is defined and target.type | default('spark') != 'spark' else none) }}{%- endmacro -%}


{#- What this run knows of a relation, without a statement for it: none if it is not there, else an
    object with `information`, the text of `show table extended`. dbt's cache has both. That of
    dbt v2, and of dbt-databricks, has no information: there one statement per schema asks for it,
    and a relation that this run has made or dropped since is a value of its own, so that threads
    don't overwrite each other's. -#}
{%- macro _known(relation) -%}
    {%- if not spark_cdc._asks_again() -%}{{ return(load_cached_relation(relation)) }}{%- endif -%}
    {%- set memo, schema, name = spark_cdc._memo(), relation.schema | lower, relation.identifier | lower -%}
    {%- set of_relation, of_schema = 'relation ' ~ schema ~ '.' ~ name, 'schema ' ~ schema -%}
    {%- if of_relation in memo -%}{{ return(memo[of_relation]) }}{%- endif -%}
    {%- if of_schema not in memo -%}
        {%- set found = {} -%}
        {%- for row in (spark_cdc._listed_in(schema) if spark_cdc._has_schema(schema) else []) -%}
            {%- do found.update({row.tableName | lower: row}) -%}
        {%- endfor -%}
        {%- do memo.update({of_schema: found}) -%}
    {%- endif -%}
    {%- set found = memo[of_schema].get(name) -%}
    {%- if found is none or 'information' in found -%}{{ return(found) }}{%- endif -%}
    {%- do memo.update({of_relation: {'information': spark_cdc._information_of(schema, found)}}) -%}
    {{ return(memo[of_relation]) }}
{%- endmacro -%}


{#- Whether a relation was there when this run first looked. -#}
{%- macro _is_listed(relation) -%}
    {{ return((load_relation(relation) if spark_cdc._platform().lists_views else spark_cdc._known(relation)) is not none) }}
{%- endmacro -%}


{#- The tables and views of a schema: rows {tableName, information}, or {tableName, is_view} where
    the catalogue lists no more than names. -#}
{%- macro _listed_in(schema, pattern='*') -%}
    {%- if spark_cdc._platform().lists_views -%}{{ return(spark_cdc._shown_in(schema, pattern)) }}{%- endif -%}
    {%- set rows = [] -%}
    {%- for name in spark_cdc._tables_in(schema, pattern, views=false) -%}{%- do rows.append({'tableName': name, 'is_view': false}) -%}{%- endfor -%}
    {%- for name in spark_cdc._views_in(schema, pattern) -%}{%- do rows.append({'tableName': name, 'is_view': true}) -%}{%- endfor -%}
    {{ return(rows) }}
{%- endmacro -%}


{#- Lets the rest of the run know of a relation that was made or altered. Arguments: relation, type
    (table or view), information (as far as it is read). -#}
{%- macro _note_relation(relation, type, information='') -%}
    {%- do adapter.cache_dropped(relation) -%}
    {%- set is_held = spark_cdc._platform().is_cached -%}
    {%- do adapter.cache_added(relation.incorporate(type=type, information=information) if is_held else relation.incorporate(type=type)) -%}
    {%- do spark_cdc._note_known(relation, {'information': information}) -%}
{%- endmacro -%}


{#- Lets the rest of the run know that a relation is gone. -#}
{%- macro _note_dropped(relation) -%}
    {%- do adapter.cache_dropped(relation) -%}
    {%- do spark_cdc._note_known(relation, none) -%}
{%- endmacro -%}


{%- macro _asks_again() -%}{{ return(spark_cdc._of_dbt_2() or not spark_cdc._platform().is_cached) }}{%- endmacro -%}


{%- macro _note_known(relation, known) -%}
    {%- if spark_cdc._asks_again() -%}{%- do spark_cdc._memo().update({'relation ' ~ (relation.schema ~ '.' ~ relation.identifier) | lower: known}) -%}{%- endif -%}
{%- endmacro -%}


{#- Whether a schema is there. -#}
{%- macro _has_schema(schema) -%}{{ return(spark_cdc._query('show schemas like ' ~ spark_cdc._literal(schema)) | length > 0) }}{%- endmacro -%}


{#- Whether a table or view exists, asked of the metastore. -#}
{%- macro _is_there(relation) -%}{{ return(spark_cdc._tables_in(relation.schema, relation.identifier) | length > 0) }}{%- endmacro -%}


{#- The names of the views of a schema. Argument: pattern (a star stands for anything). -#}
{%- macro _views_in(schema, pattern='*') -%}
    {%- set sql = 'show views in ' ~ spark_cdc._quote(schema) ~ ' like ' ~ spark_cdc._literal(pattern) -%}
    {{ return(spark_cdc._query(sql) | rejectattr('isTemporary') | map(attribute='viewName') | list) }}
{%- endmacro -%}


{#- The names of tables and views of a schema, without temporary ones. Argument: views (whether they
    are wanted, too). -#}
{%- macro _tables_in(schema, pattern='*', views=true) -%}
    {%- set sql, names = 'show tables in ' ~ spark_cdc._quote(schema) ~ ' like ' ~ spark_cdc._literal(pattern), [] -%}
    {%- for row in spark_cdc._query(sql) if not row.isTemporary -%}
        {%- do names.append(row.tableName) -%}
    {%- endfor -%}
    {{ return(names + (spark_cdc._views_in(schema, pattern) if views and not spark_cdc._platform().lists_views else [])) }}
{%- endmacro -%}


{#- What the catalogue says of the tables and views of a schema: rows {tableName, information}. -#}
{%- macro _shown_in(schema, pattern='*') -%}
    {%- set rows = spark_cdc._query('show table extended in ' ~ spark_cdc._quote(schema) ~ ' like ' ~ spark_cdc._literal(pattern)) -%}
    {%- if not spark_cdc._platform().lists_views -%}
        {%- for name in spark_cdc._views_in(schema, pattern) -%}
            {%- do rows.append({'tableName': name, 'information': spark_cdc._information_of(schema, {'tableName': name, 'is_view': true})}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(rows) }}
{%- endmacro -%}


{#- What it says of one of them, of a view in the words that Hive has for it. Argument: listed (a
    row of _listed_in()). -#}
{%- macro _information_of(schema, listed) -%}
    {%- if not listed.is_view -%}
        {%- set text = (spark_cdc._shown_in(schema, listed.tableName) | first | default({})).get('information', '') -%}
        {#- Spark 4.1 shows properties letter by letter -#}
        {%- set before, found, after = text.partition('\nTable Properties: [[, ') -%}
        {{ return(before ~ '\nTable Properties: [[' ~ after.split('\n')[0].replace(', ', '') ~ '\n' ~ after.split('\n')[1:] | join('\n') if found else text) }}
    {%- endif -%}
    {%- set head, _, text = spark_cdc._view_text(spark_cdc._quote(schema) ~ '.' ~ spark_cdc._quote(listed.tableName)).partition('\nAS\n') -%}
    {{ return(head.replace("'spark_cdc.docs' = '", 'spark_cdc.docs=') ~ '\nType: VIEW\nView Text: ' ~ text.strip()) }}
{%- endmacro -%}


{#- Whether that is a view. -#}
{%- macro _is_view_in(information) -%}{{ return('\nType: VIEW\n' in (information or '')) }}{%- endmacro -%}


{#- A format of tables, or the one that the platform has in its place. -#}
{%- macro _format_here(format) -%}
    {%- set accepted = spark_cdc._platform().ledgers or [format] -%}
    {{ return(format if format in accepted else accepted[0]) }}
{%- endmacro -%}


{#- The folder of a schema; none if the catalogue does not say. -#}
{%- macro _schema_location(schema) -%}
    {%- set rows = spark_cdc._query('describe schema ' ~ spark_cdc._quote(schema)) | selectattr('info_name', 'equalto', 'Location') -%}
    {{ return((rows | map(attribute='info_value') | list + [none]) | first) }}
{%- endmacro -%}


{#- The format of a table as dbt's cached relation has it; an empty text where it does not say.
    Iceberg's tables have Hive's provider there. Argument: cached (relation, or none). -#}
{%- macro _provider_of(cached) -%}
    {%- set information = (cached.information if cached is not none else none) or '' -%}
    {%- if 'table_type=ICEBERG' in information -%}{{ return('iceberg') }}{%- endif -%}
    {%- for line in information.split('\n') | map('trim') if line.startswith('Provider:') -%}
        {{ return(line.removeprefix('Provider:') | trim | lower) }}
    {%- endfor -%}
    {{ return('') }}
{%- endmacro -%}


{#- The table format of a table; none of one of plain files. A table that dbt's cache lacks is
    described. -#}
{%- macro _table_format(table) -%}
    {%- set cached = spark_cdc._provider_of(spark_cdc._known(table)) -%}
    {%- set described = [] if cached else spark_cdc._query('describe table extended ' ~ table) -%}
    {%- set provider = cached or described | selectattr('col_name', 'equalto', 'Provider')
        | map(attribute='data_type') | map('lower') | first | default('') -%}
    {{ return(provider if spark_cdc._table_facts(provider).has_log else none) }}
{%- endmacro -%}


{#- Where a table's files lie, as `show table extended` tells; an empty text where it does not
    say. -#}
{%- macro _location_in(information) -%}{{ return(information.partition('\nLocation: ')[2].split('\n')[0]) }}{%- endmacro -%}


{#- Whether a table has an option, as dbt's look at the catalogue has it; one that it has not seen
    is of this run, and has all that _create_table_sql() gives.
    Argument: option (as name=value). -#}
{%- macro _has_option(table, option) -%}
    {%- set cached = spark_cdc._known(table) -%}
    {%- if cached is none -%}{{ return(true) }}{%- endif -%}
    {%- for line in (cached.information or '').split('\n') if line.startswith('Storage Properties: [') -%}
        {{ return(option in line.removeprefix('Storage Properties: [').removesuffix(']').split(', ')) }}
    {%- endfor -%}
    {{ return(false) }}
{%- endmacro -%}


{#- The columns of a relation, as rows {col_name, data_type}; of a partitioned table its partition
    columns come again after a heading. -#}
{%- macro _describe(relation) -%}{{ return(spark_cdc._described('describe ' ~ relation)) }}{%- endmacro -%}


{#- Those of a query. -#}
{%- macro _describe_query(sql) -%}{{ return(spark_cdc._described('describe query ' ~ sql)) }}{%- endmacro -%}


{#- What `describe` says of a relation or a query, as rows {col_name, data_type}. Spark leaves out
    what a struct has beyond 25 fields, unless it is told not to, which is once in a session and
    only where that is so. -#}
{%- macro _described(sql) -%}
    {%- set rows = spark_cdc._query(sql) -%}
    {%- if ' more fields' in rows | map(attribute='data_type') | join(' ') -%}
        {%- do spark_cdc._set('spark.sql.debug.maxToStringFields', '100000') -%}
        {%- set rows = spark_cdc._query(sql) -%}
    {%- endif -%}
    {%- if ' more fields' in rows | map(attribute='data_type') | join(' ') -%}
        {%- do exceptions.raise_compiler_error('a struct has more than 25 fields, whose types this platform does not show: ' ~ sql) -%}
    {%- endif -%}
    {{ return(rows) }}
{%- endmacro -%}


{#- The properties of a table, as a dictionary. -#}
{%- macro _properties_of(table) -%}
    {%- set properties = {} -%}
    {%- for row in spark_cdc._query('show tblproperties ' ~ table) -%}{%- do properties.update({row.key: row.value}) -%}{%- endfor -%}
    {{ return(properties) }}
{%- endmacro -%}


{#- The commits of a Delta table, the newest first, and what Delta says of it now. -#}
{%- macro _delta_history(table, limit=none) -%}{{ return(spark_cdc._query('describe history ' ~ table ~ (' limit ' ~ limit if limit else ''))) }}{%- endmacro -%}


{%- macro _delta_detail(table) -%}{{ return(spark_cdc._query('describe detail ' ~ table)[0]) }}{%- endmacro -%}


{#- Spark's answer to EXPLAIN: the plan of a query, or the reason why there is none. -#}
{%- macro _plan(sql) -%}{{ return(spark_cdc._query('explain ' ~ sql) | map(attribute='plan') | join('\n')) }}{%- endmacro -%}


{#- The path that does not exist; none if all do. -#}
{%- macro _plan_missing_path(plan) -%}
    {%- set after = plan.split('PATH_NOT_FOUND] Path does not exist: ')[1:] | first | default('') -%}
    {{ return(after.split('\n')[0].split(' SQLSTATE')[0].split(';')[0].removesuffix('.') if after | trim else none) }}
{%- endmacro -%}


{#- Why Spark can't plan a query, in its own words; none if it can. -#}
{%- macro _plan_refusal(plan) -%}
    {%- for words in plan.split('Error occurred during query planning:')[1:2] -%}
        {%- set cause = words.split('SQLSTATE')[0].split('; line ')[0] -%}
        {{ return((cause.split() | join(' ')).strip(' .;')[:500]) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- The paths that a query on files reads. Returns a dictionary: count, paths (text, cut off at
    spark.sql.maxMetadataStringLength). -#}
{%- macro _plan_paths(plan) -%}
    {%- for scan in plan.split('InMemoryFileIndex(')[1:2] if ' paths)' in scan -%}
        {%- set count, listed = scan.split('\n')[0].split(' paths)', 1) -%}
        {%- set is_listed = listed[:1] == '[' and '], PartitionFilters' in listed -%}
        {{ return({
            'count': count | int,
            'paths': listed[1:].rsplit('], PartitionFilters', 1)[0] if is_listed else '',
        }) }}
    {%- endfor -%}
    {{ return({'count': 0, 'paths': ''}) }}
{%- endmacro -%}


{#- What a view is made of, as the metastore has it at this moment. -#}
{%- macro _view_text(view) -%}{{ return(spark_cdc._query('show create table ' ~ view)[0].createtab_stmt) }}{%- endmacro -%}


{#- The same in what `show table extended` says of a view, as dbt's cache has it; an empty text
    where it is no view. -#}
{%- macro _view_text_in(information) -%}
    {%- set found = ('\n' ~ (information or '')).partition('\nView Text: ')[2] -%}
    {{ return(found.split('\nView Original Text')[0].split('\nView Schema Mode')[0].split('\nView Catalog')[0]) }}
{%- endmacro -%}


{#- Creates a view, or gives it another text. Hive and Unity alter it: with `create or replace` it
    would be gone in between, and in Unity its grants with it. -#}
{%- macro _replace_view_sql(view, text, exists) -%}
{{ spark_cdc._replacing(view, exists) }} as
{{ text }}
{%- endmacro -%}


{#- How that statement begins. -#}
{%- macro _replacing(view, exists) -%}{{ (spark_cdc._platform().replaces_views if exists else 'create view if not exists') ~ ' ' ~ view }}{%- endmacro -%}


{#- Creates a view that is not there: of several sessions that try, one does. -#}
{%- macro _make_view(view, text) -%}{%- do spark_cdc._send(spark_cdc._replace_view_sql(view, text, false)) -%}{%- endmacro -%}


{%- macro _drop_view(view) -%}{%- do spark_cdc._send('drop view if exists ' ~ view) -%}{%- endmacro -%}


{#- A temporary view that outlives the session, if need be: dbt v2 renders a data test in another
    session than it runs it in. Returns a dictionary: created (as in `create or replace`), name (in
    queries). -#}
{%- macro _view_of_test(name) -%}
    {%- if not spark_cdc._of_dbt_2() -%}{{ return({'created': 'temporary view ' ~ name, 'name': name}) }}{%- endif -%}
    {%- set own = name ~ '_' ~ invocation_id.split('-')[0] -%}
    {{ return({'created': 'global temporary view ' ~ own, 'name': 'global_temp.' ~ own}) }}
{%- endmacro -%}


{#- A temporary view over files. Arguments: view (as in _view_of_test(): temporary view name),
    reader (of Spark), options (of it, as SQL), columns (as SQL; none: those that are found). -#}
{%- macro _reader_view_sql(view, reader, options, columns=none) -%}
create or replace {{ view }}
{%- if columns is not none %} (
    {{ columns | join(',\n    ') }}
)
{%- endif %}
using {{ reader }}
options (
    {{ options | join(',\n    ') }}
)
{%- endmacro -%}


{#- What Spark knows of the file that a row was read from: path, name, size, modification_time,
    block_start. Of a view on files it is not known: _file_name_sql(). -#}
{%- macro _of_file(part) -%}_metadata.file_{{ part }}{%- endmacro -%}


{#- The file of a row, as a URL, also of a row of a view. -#}
{%- macro _file_name_sql() -%}{{ spark_cdc._platform().file_name }}{%- endmacro -%}


{%- macro _make_schema(schema) -%}{%- do spark_cdc._send('create schema if not exists ' ~ spark_cdc._quote(schema)) -%}{%- endmacro -%}


{#- Drops a schema with all that is in it; Iceberg's catalogs drop empty ones. -#}
{%- macro _drop_schema(schema) -%}
    {%- if not spark_cdc._platform().lists_views and spark_cdc._has_schema(schema) -%}
        {%- for row in spark_cdc._listed_in(schema) -%}
            {%- set relation = spark_cdc._relation_in(schema, row.tableName) -%}
            {%- do spark_cdc._drop_view(relation) if row.is_view else spark_cdc._drop_table(relation) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- do spark_cdc._send('drop schema if exists ' ~ spark_cdc._quote(schema) ~ ' cascade') -%}
{%- endmacro -%}


{#- The table of an entity, or cdc_loads, if it is not there. The options of its format
    (_table_formats()) spare each load a statement. Hashes are dear and never repeat, so in Parquet
    files the hash columns do without a dictionary; ORC makes none of binary columns. What goes with
    the next load does without any, which takes half the time of the write.
    Arguments: table (relation), columns (dictionaries with at_sql and data_type), file_format,
    partitions (names), hashes (names of hash columns), is_kept (whether the rows stay behind the
    next load). -#}
{%- macro _create_table_sql(table, columns, file_format, partitions, hashes=[], is_kept=true) -%}
{%- set facts, options = spark_cdc._table_facts(file_format), {} -%}
{%- for name in (([] if is_kept else ['']) + hashes if facts.dictionaries else []) -%}
    {%- do options.update({facts.dictionaries ~ ('#' ~ name if name else ''): 'false'}) -%}
{%- endfor -%}
{%- do options.update(facts.options) -%}
create table if not exists {{ table }} (
    {%- for column in columns %}
    {{ column.at_sql }} {{ column.data_type }}{{ ',' if not loop.last }}
    {%- endfor %}
)
using {{ file_format }}
partitioned by ({{ partitions | join(', ') }})
{%- if options %}
options (
    {%- for name, value in options.items() %}
    `{{ name }}` '{{ value }}'{{ ',' if not loop.last }}
    {%- endfor %}
)
{%- endif %}
{%- if facts.properties %}
tblproperties (
    {%- for name, value in facts.properties.items() %}
    '{{ name }}' '{{ value }}'{{ ',' if not loop.last }}
    {%- endfor %}
)
{%- endif %}
{%- endmacro -%}


{%- macro _rename_table(table, name) -%}{%- do spark_cdc._send('alter table ' ~ table ~ ' rename to ' ~ name) -%}{%- endmacro -%}


{#- Argument: columns (names with their types, as SQL). -#}
{%- macro _add_columns(table, columns) -%}{%- do spark_cdc._send('alter table ' ~ table ~ ' add columns (' ~ columns | join(', ') ~ ')') -%}{%- endmacro -%}


{#- Argument: kind (table or view). -#}
{%- macro _set_properties(relation, properties, kind='table') -%}
    {%- set values = [] -%}
    {%- for name, value in properties.items() -%}{%- do values.append("'" ~ name ~ "' = " ~ spark_cdc._literal(value)) -%}{%- endfor -%}
    {%- do spark_cdc._send('alter ' ~ kind ~ ' ' ~ relation ~ ' set tblproperties (' ~ values | join(', ') ~ ')') -%}
{%- endmacro -%}


{#- What dbt's configuration asks of the model's relation beside its rows: grants, which Apache
    Spark's SQL does not have, and descriptions (persist_docs), which are sent when they differ
    from those that dbt's cache, which was filled before the model ran, says are there.
    Never descriptions of the view whose text is the commit: the metastore would get its whole
    entry anew, as it was when Spark read it; nor of the view that a branch has in a table's
    place. -#}
{%- macro _apply_config() -%}
    {%- set grants, docs = config.get('grants') or {}, config.get('persist_docs') or {} -%}
    {%- set is_table = config.get('materialized') not in ['cdc_view', 'cdc_committed'] -%}
    {%- set kind = ('table' if spark_cdc._write_target(this) == this else none) if is_table
        else 'view' if config.get('materialized') == 'cdc_view' else none -%}
    {%- if grants and target.method in ['http', 'odbc'] -%}{%- do apply_grants(this, grants, should_revoke=true) -%}{%- endif -%}
    {%- set text, columns = model.description if docs.get('relation') else '', {} -%}
    {%- for name, column in model.columns.items() if docs.get('columns') and kind == 'table' and column.description -%}
        {%- do columns.update({name | lower: column.description}) -%}
    {%- endfor -%}
    {%- set print, cached = local_md5(tojson([text, columns])), spark_cdc._known(this) -%}
    {%- set known = (cached.information if cached is not none else none) or '' -%}
    {%- if kind and (text or columns) and spark_cdc._mode() == 'load' and ('spark_cdc.docs=' ~ print) not in known -%}
        {%- for column in (adapter.get_columns_in_relation(this) if columns else []) if column.name | lower in columns -%}
            {%- do spark_cdc._send('alter table ' ~ this ~ ' alter column ' ~ spark_cdc._quote(column.name) ~ ' comment ' ~ spark_cdc._literal(columns[column.name | lower])) -%}
        {%- endfor -%}
        {%- do spark_cdc._set_properties(this, dict({'comment': text} if text else {}, **{'spark_cdc.docs': print}), kind) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Without purge Iceberg's catalog, where it is the session's, would leave the files of any
    table. -#}
{%- macro _drop_table(table) -%}{%- do spark_cdc._send('drop table if exists ' ~ table ~ spark_cdc._platform().purges) -%}{%- endmacro -%}


{#- Lets this session see what others have done to a table that it has read. -#}
{%- macro _refresh(table) -%}{%- do spark_cdc._send('refresh table ' ~ table) -%}{%- endmacro -%}


{#- Registers the partitions whose folders the metastore does not know, as killed inserts leave
    them. -#}
{%- macro _find_partitions(table) -%}
    {%- if spark_cdc._platform().has_folders -%}{%- do spark_cdc._send('alter table ' ~ table ~ ' recover partitions') -%}{%- endif -%}
{%- endmacro -%}


{#- The partition columns of a ledger, of an <entity>_events, or of cdc_loads. -#}
{%- macro _partition_names(table) -%}
    {%- set name = table.identifier.removesuffix('_own').removesuffix('_sensitive') -%}
    {%- if name == 'cdc_loads' -%}{{ return(['entity', 'load_id', 'status']) }}{%- endif -%}
    {{ return(['business_date', 'load_id'] + (['operation'] if name.endswith('_ledger') else [])) }}
{%- endmacro -%}


{#- The partitions of a table that the metastore knows, as texts: name=value/name=value. Argument:
    of (those alone that this SQL names). -#}
{%- macro _partitions_shown(table, of='') -%}
    {%- set rows = spark_cdc._query('show partitions ' ~ table ~ (' partition (' ~ of ~ ')' if of else '')) -%}
    {{ return(rows | map(attribute='partition') | list) }}
{%- endmacro -%}


{#- The partitions of a table by load, as texts such as
    business_date=2024-03-01/load_id=…/operation=I. Iceberg lists them in a table of its own; of
    Delta's rows the query reads no column.
    Argument: entity (of cdc_loads: the name of the entity whose partitions are wanted). -#}
{%- macro _partitions_by_load(table, entity=none) -%}
    {%- set partitions, parts = {}, [] -%}
    {%- set format = spark_cdc._table_format(table) -%}
    {%- set is_listed = spark_cdc._table_facts(format).lists_files -%}
    {%- for name in spark_cdc._partition_names(table) -%}
        {%- do parts.append("concat('" ~ name ~ "=', " ~ ('partition.' if is_listed else '') ~ name ~ ')') -%}
    {%- endfor -%}
    {%- set listed -%}
select distinct concat_ws('/', {{ parts | join(', ') }}) as partition
from {{ table }}{{ '.partitions' if is_listed }}{{ "\nwhere " ~ ('partition.' if is_listed) ~ "entity = '" ~ entity ~ "'" if entity }}
    {%- endset -%}
    {%- for partition in (spark_cdc._query(listed) | map(attribute='partition') if format
            else spark_cdc._partitions_shown(table, "entity = '" ~ entity ~ "'" if entity else '')) -%}
        {%- do partitions.setdefault(partition.split('load_id=')[-1].split('/')[0], []).append(partition) -%}
    {%- endfor -%}
    {{ return(partitions) }}
{%- endmacro -%}


{#- How a write begins that replaces the partitions it brings rows of, and no others (see
    _set_overwrite()), or on some platforms all rows of a condition; without both the whole table.
    Arguments: table, where (a condition on partition columns that holds of all rows of the write,
    and of none that are to stay), partitions (names). -#}
{%- macro _overwrite_sql(table, where=none, partitions=[]) -%}
{%- if where is not none and spark_cdc._platform().overwrites == 'where' -%}
insert into {{ table }}
replace where {{ where }}
{%- else -%}
insert overwrite table {{ table }}{{ ' partition (' ~ partitions | join(', ') ~ ')' if partitions }}
{%- endif -%}
{%- endmacro -%}


{#- The same as a whole, of a query that has the table's columns in any order. Arguments: table,
    where, sql (the query). -#}
{%- macro _overwrite_by_name_sql(table, where, sql) -%}
{%- if spark_cdc._platform().overwrites == 'where' -%}
{{ spark_cdc._overwrite_sql(table, where) }}
select
    {{ spark_cdc._columns_in_order(table) | join(',\n    ') }}
from (
{{ sql }}
) as named
{%- else -%}
{{ spark_cdc._overwrite_sql(table, where) }} by name
{{ sql }}
{%- endif -%}
{%- endmacro -%}


{#- The names of a table's columns, asked for once in a run. -#}
{%- macro _columns_in_order(table) -%}
    {%- set memo, name = spark_cdc._memo(), 'columns of ' ~ table -%}
    {%- if name not in memo -%}
        {%- do memo.update({name: adapter.get_columns_in_relation(table) | map(attribute='name') | list}) -%}
    {%- endif -%}
    {{ return(memo[name]) }}
{%- endmacro -%}


{#- Only the partitions that are written are to be replaced: tables of plain files have an option
    for it, for others, and where nobody has looked, this session is told. -#}
{%- macro _set_overwrite(table) -%}
    {%- if spark_cdc._known(table) is none or not spark_cdc._has_option(table, 'partitionOverwriteMode=dynamic') -%}
        {%- do spark_cdc._set('spark.sql.sources.partitionOverwriteMode', 'dynamic') -%}
    {%- endif -%}
{%- endmacro -%}


{#- Drops the partitions of some loads, and no others: another run may be between its two tables.
    Arguments: table, loads, purge (whether to bypass the storage's trash). -#}
{%- macro _drop_loads(table, loads, purge=false) -%}
    {%- if spark_cdc._table_format(table) -%}
        {{ return(spark_cdc._send('delete from ' ~ table ~ ' where ' ~ spark_cdc._in_loads(loads)) if loads else '') }}
    {%- endif -%}
    {%- set partitions = [] -%}
    {%- for load_id, of_load in spark_cdc._partitions_by_load(table).items() if load_id in loads -%}
        {%- do partitions.extend(of_load) -%}
    {%- endfor -%}
    {%- if partitions -%}
        {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(table, partitions) ~ ('\npurge' if purge else '')) -%}
    {%- endif -%}
{%- endmacro -%}


{#- The statement that drops partitions, given as texts of _partitions_by_load(). Table formats
    unlist the files of whole partitions and delete no row. -#}
{%- macro _drop_partitions_sql(table, partitions) -%}
{%- set texts = [] -%}
{%- set format = spark_cdc._table_format(table) -%}
{%- for partition in partitions -%}
    {%- set values = [] -%}
    {%- for part in partition.split('/') -%}
        {%- do values.append(part.split('=')[0] ~ ' = ' ~ spark_cdc._literal(part.split('=')[1])) -%}
    {%- endfor -%}
    {%- do texts.append(values | join(' and ') if format else 'partition (' ~ values | join(', ') ~ ')') -%}
{%- endfor -%}
{{ 'delete from ' ~ table ~ '\nwhere' if format else 'alter table ' ~ table ~ ' drop if exists' }}
    {{ texts | join('\n    or ' if format else ',\n    ') }}
{%- endmacro -%}


{#- The statement that drops a row of cdc_loads by hand, as SQL over load_id and status. -#}
{%- macro _drop_row_text(load_log, entity) -%}
    {%- set words = ['alter table ', ' drop partition (', ', ', ')'] if spark_cdc._platform().has_folders else ['delete from ', ' where ', ' and ', ''] -%}
    {%- set row = ["entity = \\'" ~ entity ~ "\\'", "load_id = \\'%s\\'", "status = \\'%s\\'"] | join(words[2]) -%}
    {{ return("format_string('" ~ words[0] ~ load_log ~ words[1] ~ row ~ words[3] ~ "', load_id, status)") }}
{%- endmacro -%}


{#- How the statement begins that drops partitions of a table, be it there or not. Argument:
    file_format (of a table that is not). -#}
{%- macro _dropping(table, file_format) -%}
    {%- set facts = spark_cdc._table_facts(spark_cdc._provider_of(spark_cdc._known(table)) or file_format) -%}
    {{ return('delete from ' ~ table if facts.has_log else 'alter table ' ~ table ~ ' drop') }}
{%- endmacro -%}


{#- Drops a folder with its files. No statement removes files, so the folder becomes a partition
    that is added and dropped at once. Arguments: table (a relation of Parquet or ORC), folder. -#}
{%- macro _drop_folder(table, folder) -%}
    {%- set values, known = [], {'business_date': '1970-01-01', 'load_id': 'spark-staging'} -%}
    {%- for name in spark_cdc._partition_names(table) -%}{%- do values.append(name ~ " = '" ~ known.get(name, '-') ~ "'") -%}{%- endfor -%}
    {%- set partition = 'partition (' ~ values | join(', ') ~ ')' -%}
    {#- an interrupted statement may have left the partition -#}
    {%- do spark_cdc._send('alter table ' ~ table ~ ' drop if exists ' ~ partition) -%}
    {%- do spark_cdc._send('alter table ' ~ table ~ ' add ' ~ partition ~ ' location ' ~ spark_cdc._literal(folder)) -%}
    {%- do spark_cdc._send('alter table ' ~ table ~ ' drop ' ~ partition) -%}
{%- endmacro -%}


{#- Whether a session takes a setting. -#}
{%- macro _takes(name) -%}
    {%- set known = spark_cdc._platform().settings -%}
    {{ return(known is none or name in known) }}
{%- endmacro -%}


{#- Sets a setting of this session, or puts it back (none). One that the platform does not take is
    left out: all of them but _platforms().settings make a load fast, or sure; see docs/platforms.md
    for what a load does without. -#}
{%- macro _set(name, value) -%}
    {%- if not spark_cdc._takes(name) -%}{{ return('') }}{%- endif -%}
    {%- set known = spark_cdc._platform().settings -%}
    {%- set name = known[name] if known else '`' ~ name ~ '`' if '-' in name else name -%}
    {%- do spark_cdc._send('reset ' ~ name if value is none else 'set ' ~ name ~ ' = ' ~ value) -%}
{%- endmacro -%}


{#- The value of a setting, as text. -#}
{%- macro _setting(name) -%}{{ return(spark_cdc._query('set `' ~ name ~ '`') | map(attribute='value') | first | string) }}{%- endmacro -%}
