{#- Changes the status of rows of cdc_loads. Files that are there stay as they are while somebody may read them: the rows are written into partitions of the new
    status, and those of the old one are dropped. Each statement gives the same when it is sent twice; what a crash in between leaves twice, the entity's next
    run drops (_record_missing_loads()). Arguments: load_log (cdc_loads), held (the status that changes), status, entity (name), loads (their ids). -#}
{%- macro _set_load_status(load_log, held, status, entity, loads) -%}
    {%- set gone = [] -%}
    {%- for load_id, partitions in (spark_cdc._partitions_by_load(load_log, entity) if loads else {}).items() if load_id in loads -%}
        {%- do gone.extend(partitions | select('in', [spark_cdc._log_partition(entity, load_id, held)])) -%}
    {%- endfor -%}
    {%- if not gone -%}{{ return('') }}{%- endif -%}
    {%- set sql -%}
insert overwrite table {{ spark_cdc._own(load_log) }} by name
select /*+ coalesce(1) */
    {{ spark_cdc._load_log_columns() | reject('equalto', 'status') | join(',\n    ') }},
    {{ spark_cdc._literal(status) }} as status
from {{ spark_cdc._own(load_log) }}
where entity = {{ spark_cdc._literal(entity) }} and {{ spark_cdc._in_loads(loads) }} and status = {{ spark_cdc._literal(held) }}
    {%- endset -%}
    {%- do spark_cdc._set_overwrite(load_log) -%}
    {%- do spark_cdc._send(sql) -%}
    {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(load_log, gone)) -%}
{%- endmacro -%}


{#- The partition of a row of cdc_loads, as text. -#}
{%- macro _log_partition(entity, load_id, status) -%}
    {{ return('entity=' ~ entity ~ '/load_id=' ~ load_id ~ '/status=' ~ status) }}
{%- endmacro -%}
