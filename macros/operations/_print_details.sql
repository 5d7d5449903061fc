{#- Prints what takes reads of an entity's ledger, for spark-cdc report: a line of JSON an entity behind `spark_cdc details: `. Nothing is written.
    Arguments: entities (list of names, or one), row_limit (rows shown of each kind that the last load changed; 0 for no values at all), change_limit (a last
    load with more changed rows is not compared). A line has entity; changes (counts of rows, columns, rows, or skipped: why not); files and rejects of the
    ledger; vacuum and compact (what these commands would do with their own defaults). -#}
{%- macro _print_details(entities, row_limit=5, change_limit=100000) -%}
    {%- for capture in spark_cdc._captures('report', entities) -%}
        {%- set head = spark_cdc._published(capture) -%}
        {%- if head.loads -%}
            {%- set dropped = spark_cdc._vacuum_entity(capture, 168, false) -%}
            {%- do print('spark_cdc details: ' ~ tojson({
                'entity': capture.entity.name,
                'changes': spark_cdc._changes_of_last_load(capture, head, row_limit, change_limit),
                'files': spark_cdc._files_of_ledger(capture, head),
                'rejects': spark_cdc._rejects_of_loads(capture, head),
                'vacuum': {
                    'loads': dropped | length,
                    'files': dropped | map(attribute='files') | map('int') | sum,
                    'bytes': dropped | map(attribute='bytes') | map('int') | sum,
                },
                'compact': spark_cdc._plan_compaction(head.loads, 30, false).squashed | length,
            })) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}


{#- What the last load changed: by column, and some rows of each kind with their values before and after. -#}
{%- macro _changes_of_last_load(capture, head, row_limit, change_limit) -%}
    {%- set entity, last = capture.entity, head.loads[-1] -%}
    {%- set written = spark_cdc._load_counts(capture.ledger, head.loads, [last]).rows.get(last, {}) -%}
    {%- set changed = written.get('I', 0) + written.get('U', 0) + written.get('D', 0) -%}
    {%- set found = {'load_id': last, 'counts': {}, 'columns': {}, 'rows': []} -%}
    {%- if head.loads | length == 1 -%}
        {{ return(dict(found, skipped='It is the first load: all rows are new.')) }}
    {%- elif changed > change_limit -%}
        {{ return(dict(found, skipped='It changed ' ~ changed ~ ' rows; up to ' ~ change_limit ~ ' are compared.')) }}
    {%- elif head.definition != spark_cdc._fingerprint(spark_cdc._definition(entity)) -%}
        {{ return(dict(found, skipped='The columns of stg_' ~ entity.name ~ ' are not those of the last load.')) }}
    {%- elif not changed -%}
        {{ return(found) }}
    {%- endif -%}
    {%- set differences = spark_cdc._diff_sql(
        entity, spark_cdc._across_changes(entity, capture.ledger, head.get('layout') or {}), head.loads[:-1], head.loads) -%}
    {%- for row in spark_cdc._query(spark_cdc._changed_columns_sql(differences)) -%}
        {%- do (found.columns if row.column_name else found.counts).update({row.column_name or row.row_difference: row.row_count | int}) -%}
    {%- endfor -%}
    {%- for row in (spark_cdc._query(spark_cdc._changed_rows_sql(entity, differences, row_limit)) if row_limit else []) -%}
        {%- do found.rows.append(fromjson(row.found)) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- Rows by what became of them, and under its name those that a column's change is a part of. -#}
{%- macro _changed_columns_sql(differences) -%}
with differences as (
    {{ differences | indent(4) }}
),

exploded as (
    select
        row_difference,
        explode(
            concat(array(''), if(row_difference = 'changed', transform(column_differences, one -> one.column_name), cast(array() as array<string>)))
        ) as column_name
    from differences
)

select
    row_difference,
    column_name,
    count(*) as row_count
from exploded
group by row_difference, column_name
{%- endmacro -%}


{#- Some rows of each kind, as JSON: row_difference, keys, column_differences. Long values are cut. -#}
{%- macro _changed_rows_sql(entity, differences, row_limit) -%}
{%- set keys = entity.key_columns | map(attribute='sql') | list -%}
with differences as (
    {{ differences | indent(4) }}
),

numbered as (
    select
        *,
        row_number() over (partition by row_difference order by {{ keys | join(', ') or 'key_hash' }}) as place
    from differences
)

select
    to_json(
        struct(
            row_difference,
            {{ 'struct(' ~ keys | join(', ') ~ ') as keys' if keys else 'key_hash' }},
            transform(
                column_differences,
                one -> struct(one.column_name, left(one.value_before, 200) as value_before, left(one.value_after, 200) as value_after)
            ) as column_differences
        )
    ) as found
from numbered
where place <= {{ row_limit }}
order by row_difference, place
{%- endmacro -%}


{#- Files of the ledger and, of change events, of the events table: a dictionary each with table, is_needed (whether a load that counts wrote them), files, bytes. -#}
{%- macro _files_of_ledger(capture, head) -%}
    {%- set catalog = spark_cdc._catalog_of(capture) -%}
    {%- set found = [] -%}
    {%- for table in [capture.ledger, capture.events] if catalog.get(table.identifier, {}).get('location') -%}
        {%- set sql -%}
select
    {{ spark_cdc._in_loads(head.loads) }} as is_needed,
    count(*) as files,
    sum(length) as bytes
from {{ spark_cdc._list_files(catalog[table.identifier].location) }}
where load_id <> ''
group by is_needed
order by is_needed desc
        {%- endset -%}
        {%- for row in spark_cdc._query(sql) -%}
            {%- do found.append({'table': table.identifier, 'is_needed': row.is_needed, 'files': row.files | int, 'bytes': row.bytes | int}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- Rejected rows of the loads that count, by the columns that they were rejected for: dictionaries with columns and row_count, the ten most frequent. -#}
{%- macro _rejects_of_loads(capture, head) -%}
    {%- set sql -%}
select
    rejected_columns,
    count(*) as row_count
from (
    {{ spark_cdc._rejects_sql(capture.entity, capture.ledger, capture.committed, head.get('layout') or {}) | indent(4) }}
) as rejects
group by rejected_columns
order by row_count desc
limit 10
    {%- endset -%}
    {%- set found = [] -%}
    {%- for row in (spark_cdc._query(sql) if capture.entity.quarantine else []) -%}
        {%- do found.append({'columns': row.rejected_columns, 'row_count': row.row_count | int}) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
