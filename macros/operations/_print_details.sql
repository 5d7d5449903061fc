{#- Prints what takes reads of an entity's ledger, for spark-cdc report: a line of JSON an entity behind `spark_cdc details: `. Nothing is written.
    Arguments: entities (list of names, or one), row_limit (rows shown of each kind that the last load changed; 0 for no values at all), change_limit (a last
    load with more changed rows is not compared), reject_limit (rejected rows shown, the newest). A line has entity; changes (counts of rows, columns, rows, or
    skipped: why not); files of the ledger; rejects and rejected_rows; vacuum and compact (what these commands would do with their own defaults). -#}
{%- macro _print_details(entities, row_limit=5, change_limit=100000, reject_limit=200) -%}
    {%- for capture in spark_cdc._captures('report', entities) -%}
        {%- set head = spark_cdc._published(capture) -%}
        {%- if head.loads -%}
            {%- set dropped = spark_cdc._vacuum_entity(capture, 168, false) -%}
            {%- do print('spark_cdc details: ' ~ tojson({
                'entity': capture.entity.name,
                'changes': spark_cdc._changes_of_last_load(capture, head, row_limit, change_limit),
                'files': spark_cdc._files_of_ledger(capture, head),
                'rejects': spark_cdc._rejects_of_loads(capture, head),
                'rejected_rows': spark_cdc._newest_rejects(capture, head, reject_limit) if row_limit else [],
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
    {%- set written = spark_cdc._load_counts(capture.masked, head.loads, [last]).rows.get(last, {}) -%}
    {%- set changed = written.get('I', 0) + written.get('U', 0) + written.get('D', 0) -%}
    {%- set found = {'load_id': last, 'counts': {}, 'columns': {}, 'rows': []} -%}
    {%- if head.loads | length == 1 -%}
        {{ return(dict(found, skipped='It is the first load: all rows are new.')) }}
    {%- elif changed > change_limit -%}
        {{ return(dict(found, skipped='It changed ' ~ changed ~ ' rows; up to ' ~ change_limit ~ ' are compared.')) }}
    {%- elif not spark_cdc._has_columns_of(entity, head.definition) -%}
        {{ return(dict(found, skipped='The columns of stg_' ~ entity.name ~ ' are not those of the last load.')) }}
    {%- elif not changed -%}
        {{ return(found) }}
    {%- endif -%}
    {%- set differences = spark_cdc._diff_sql(
        entity, spark_cdc._across_changes(entity, capture.masked, head.get('layout') or {}), head.loads[:-1], head.loads) -%}
    {%- for row in spark_cdc._query(spark_cdc._changed_rows_sql(entity, differences, row_limit)) -%}
        {%- if row.shown -%}
            {%- do found.rows.append(fromjson(row.shown)) -%}
        {%- else -%}
            {%- do (found.columns if row.column_name else found.counts).update({row.column_name or row.row_difference: row.row_count | int}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- Counts of rows by what became of them (without a column_name), of values by column, and as JSON some rows of each kind (shown): row_difference, keys,
    column_differences. Long values are cut. One statement, since what differs is worked out anew wherever it is named. -#}
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
),

told as (
    select
        row_difference,
        place,
        explode(
            concat(
                array(struct('' as column_name, cast(null as string) as shown)),
                if(
                    row_difference = 'changed',
                    transform(column_differences, one -> struct(one.column_name as column_name, cast(null as string) as shown)),
                    array()
                ),
                if(
                    place <= {{ row_limit }},
                    array(
                        struct(
                            '' as column_name,
                            to_json(
                                struct(
                                    row_difference,
                                    {{ 'struct(' ~ keys | join(', ') ~ ') as keys' if keys else 'key_hash' }},
                                    transform(
                                        column_differences,
                                        one -> struct(
                                            one.column_name as column_name, left(one.value_before, 200) as value_before, left(one.value_after, 200) as value_after
                                        )
                                    ) as column_differences
                                )
                            ) as shown
                        )
                    ),
                    array()
                )
            )
        ) as one
    from numbered
)

select
    row_difference,
    one.column_name,
    one.shown,
    count(*) as row_count
from told
group by row_difference, one.column_name, one.shown
order by row_difference, min(place), one.column_name
{%- endmacro -%}


{#- Files of the ledger and, of change events, of the events table: a dictionary each with table, is_needed (whether a load that counts wrote them), files, bytes. -#}
{%- macro _files_of_ledger(capture, head) -%}
    {%- set found = [] -%}
    {%- set tables = [spark_cdc._own(capture.ledger).identifier, spark_cdc._own(capture.masked).identifier, spark_cdc._own(capture.events).identifier] -%}
    {%- set shown = [] -%}
    {%- for schema in [capture.schema, capture.ledger.schema] | unique -%}
        {%- do shown.extend(spark_cdc._query('show table extended in ' ~ spark_cdc._quote(schema) ~ ' like ' ~ spark_cdc._literal(tables | unique | join('|')))) -%}
    {%- endfor -%}
    {%- for table in shown -%}
        {%- set location = modules.re.findall('\nLocation: ([^\n]+)', table.information) | first -%}
        {%- set sql -%}
select
    {{ spark_cdc._in_loads(head.loads) }} as is_needed,
    count(*) as files,
    sum(length) as bytes
from {{ spark_cdc._files_of_table(spark_cdc._relation_in(table.namespace, table.tableName), location) }}
where load_id <> ''
group by is_needed
order by is_needed desc
        {%- endset -%}
        {%- for row in spark_cdc._query(sql) -%}
            {%- do found.append({'table': table.tableName, 'is_needed': row.is_needed, 'files': row.files | int, 'bytes': row.bytes | int}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- Rejected rows of the active loads, by the columns that they were rejected for: dictionaries with columns and row_count, the ten most frequent. -#}
{%- macro _rejects_of_loads(capture, head) -%}
    {%- set sql -%}
select
    rejected_columns,
    count(*) as row_count
from (
    {{ spark_cdc._rejects_sql(capture.entity, capture.masked, capture.committed, head.get('layout') or {}) | indent(4) }}
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


{#- The newest rejected rows of the active loads: dictionaries with load, columns, rules, reason and row, the
    last two cut at 500 characters. -#}
{%- macro _newest_rejects(capture, head, reject_limit) -%}
    {%- set sql -%}
select
    load_id,
    rejected_columns,
    {{ 'rejected_rules' if capture.entity.rules else "''" }} as rules,
    left(rejected_reason, 500) as reason,
    left(rejected_row, 500) as row_text
from (
    {{ spark_cdc._rejects_sql(capture.entity, capture.masked, capture.committed, head.get('layout') or {}) | indent(4) }}
) as rejects
order by load_id desc, rejected_columns, row_text
limit {{ reject_limit }}
    {%- endset -%}
    {%- set found = [] -%}
    {%- for row in (spark_cdc._query(sql) if capture.entity.quarantine else []) -%}
        {%- do found.append({'load': row.load_id, 'columns': row.rejected_columns, 'rules': row.rules, 'reason': row.reason, 'row': row.row_text}) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
