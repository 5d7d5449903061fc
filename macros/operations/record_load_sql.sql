{#- The statement that adds a committed load to cdc_loads: an overwrite of a partition of its own, which gives the
    same when it is sent twice.
    Arguments: load_log (relation of cdc_loads), entity, load (of plan_load()), audit (of audit_load()), now (whether
    the load was committed just now; if not, when it was is unknown). Returns SQL. -#}
{%- macro record_load_sql(load_log, entity, load, audit, now=true) -%}
{%- set time = spark_cdc._load_time(load.load_id) -%}
{%- set started_at = "timestamp'" ~ audit.record.started_at ~ " UTC'" -%}
{%- set values = {
    'business_time': spark_cdc._literal(load.business_time),
    'load_type': spark_cdc._literal(load.load_type),
    'is_checkpoint': load.is_checkpoint | string | lower,
    'parent_load_id': spark_cdc._literal(load.parent) if load.parent else 'null',
    'replaced_load_ids': spark_cdc._literal(load.replaced | join(', ')) if load.replaced else 'null',
    'input': spark_cdc._literal(spark_cdc._landing_input(entity, spark_cdc._landing_source(entity), time)),
    'rows_in': audit.rows_in,
    'rows_rejected': audit.counts.R,
    'rows_inserted': audit.counts.I,
    'rows_updated': audit.counts.U,
    'rows_deleted': audit.counts.D,
    'rows_unchanged': audit.counts.N,
    'rows_not_supplied': audit.counts.X,
    'rows_prior': audit.rows_prior,
    'rows_current': audit.rows_current,
    'started_at': started_at,
    'committed_at': 'current_timestamp()' if now else 'null',
    'duration_seconds': '(unix_micros(current_timestamp()) - unix_micros(' ~ started_at ~ ')) / cast(1000000 as double)'
        if now else 'null',
    'invocation_id': spark_cdc._literal(audit.record.invocation_id),
    'dbt_version': spark_cdc._literal(audit.record.dbt_version),
    'spark_version': 'version()',
    'spark_cdc_version': spark_cdc._literal(audit.record.spark_cdc_version),
    'events_late': audit.record.events.late if entity.events else 'null',
    'events_control': audit.record.events.controls if entity.events else 'null',
    'events_unexpected': audit.record.events.unexpected if entity.events else 'null',
    'definition_change': spark_cdc._literal(audit.record.definition_change) if audit.record.get('definition_change') else 'null',
    'entity': spark_cdc._literal(entity.name),
    'load_id': spark_cdc._literal(load.load_id),
} -%}
insert overwrite table {{ load_log }} partition (entity, load_id)
select
    {%- for name, data_type in spark_cdc._load_log_columns().items() %}
    cast({{ values[name] }} as {{ data_type }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
{%- endmacro -%}
