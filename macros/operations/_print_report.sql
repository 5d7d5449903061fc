{#- Prints what cdc_loads and the manifests say of each entity, for spark-cdc report: a line of JSON an entity behind `spark_cdc report: `. Nothing is written.
    A statement lists schemas, one reads the manifests of each, two read cdc_loads, whatever the number of entities; a load's row is read only if its partition
    is within the range. Arguments: entities (list of names, or one; none for all, and for those that cdc_loads alone still knows), since and before (stamps
    as loads' names begin with, such as 20240304: the first that is read, and the first that is not; or none), row_limit (rows of cdc_loads, the newest of
    each entity). A line has entity, schema (of the target), what its YAML says of it (load_type, per, expect, guards, upkeep), its manifest (loads, undone, rows,
    checkpoint), broken (what is wrong with the YAML, or none) and log (a text of JSON: the columns of cdc_loads as arrays, oldest load first, or none). -#}
{%- macro _print_report(entities=none, since=none, before=none, row_limit=400) -%}
    {%- set found = spark_cdc._captures_with_heads('report', entities) -%}
    {%- set listed = {} -%}
    {%- for capture in found.captures -%}
        {%- set entity, head = capture.entity, capture.head -%}
        {%- do listed.update({entity.name: {
            'load_type': entity.declared_load_type,
            'per': 'date' if entity.eff_type == 'date' else 'timestamp',
            'expect': entity.expect,
            'guards': entity.guards,
            'upkeep': entity.upkeep,
            'loads': head.loads,
            'undone': head.get('undone', []) | map(attribute='loads') | sum(start=[]),
            'rows': head.rows,
            'checkpoint': spark_cdc._state_loads(head.loads).base,
        }}) -%}
    {%- endfor -%}
    {%- for name, problems in found.broken.items() -%}{%- do listed.update({name: {'broken': problems | join('; ')}}) -%}{%- endfor -%}
    {%- set log = {} -%}
    {%- set load_log = spark_cdc._load_log() -%}
    {%- set is_there = load_log is not none and adapter.check_schema_exists(target.database, load_log.schema) and spark_cdc._is_there(load_log) -%}
    {%- if is_there -%}
        {%- set recorded = adapter.get_columns_in_relation(load_log) | map(attribute='name') | list -%}
        {%- set sql = spark_cdc._logged_loads_sql(load_log, recorded, listed | list if entities else none, since, before, row_limit) -%}
        {%- for row in spark_cdc._query(sql) -%}{%- do log.update({row.entity: row.logged}) -%}{%- endfor -%}
    {%- endif -%}
    {%- for name in (listed | list + log | list) | unique -%}
        {%- do print('spark_cdc report: ' ~ tojson(dict({'entity': name, 'schema': target.schema, 'broken': none, 'log': log.get(name)}, **listed.get(name, {})))) -%}
    {%- endfor -%}
{%- endmacro -%}


{#- Rows of cdc_loads as a row an entity, whose second column is JSON. Arguments: load_log, recorded (names of its columns: what an older version did not
    record is null), and those of _print_report(). -#}
{%- macro _logged_loads_sql(load_log, recorded, entities, since, before, row_limit) -%}
{%- set shown = {
    'status': "coalesce(status, 'committed')", 'committed_at': 'unix_seconds(committed_at)', 'started_at': 'unix_seconds(started_at)',
    'duration_seconds': 'round(duration_seconds, 1)', 'message': 'left(message, 1500)',
} -%}
{%- set names = [
    'load_id', 'business_time', 'load_type', 'status', 'is_checkpoint', 'replaced_load_ids', 'rows_in', 'rows_rejected', 'rows_inserted', 'rows_updated',
    'rows_deleted', 'rows_unchanged', 'rows_not_supplied', 'rows_prior', 'rows_current', 'started_at', 'committed_at', 'duration_seconds', 'events_late',
    'guard', 'message', 'definition_change', 'input_files', 'input_bytes', 'rules',
] -%}
{%- set conditions = ['true'] -%}
{%- if entities is not none -%}{%- do conditions.append('entity in (' ~ spark_cdc._literals(entities or ['']) ~ ')') -%}{%- endif -%}
{%- if since -%}{%- do conditions.append('load_id >= ' ~ spark_cdc._literal(since)) -%}{%- endif -%}
{%- if before -%}
    {#- what squashed a load of the range tells that it counts -#}
    {%- do conditions.append('(load_id < ' ~ spark_cdc._literal(before) ~ " or instr(load_id, '-h') > 0)") -%}
{%- endif -%}
with loads as (
    select
        entity,
        -- by business time, then as they came
        substring_index(load_id, '-', 1) as business_stamp,
        coalesce(started_at, timestamp'1970-01-01') as begun_at,
        struct(
            {%- for name in names %}
            {{ (shown.get(name, name) if name in recorded else 'null') ~ ' as ' ~ name }}{{ ',' if not loop.last }}
            {%- endfor %}
        ) as details
    from {{ load_log }}
    where {{ conditions | join(' and ') }}
),

numbered as (
    select
        *,
        row_number() over (partition by entity order by business_stamp desc, begun_at desc, details.load_id desc) as place
    from loads
),

collected as (
    select
        entity,
        sort_array(collect_list(struct(-place as place, details))) as sorted
    from numbered
    where place <= {{ row_limit }} or details.load_type = 'compact'
    group by entity
)

select
    entity,
    to_json(
        struct(
            {%- for name in names %}
            transform(sorted, one -> one.details.{{ name }}) as {{ name }}{{ ',' if not loop.last }}
            {%- endfor %}
        )
    ) as logged
from collected
{%- endmacro -%}
