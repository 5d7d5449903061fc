{#- The model cdc_loads: one row per entity and load, for people and audits. Loads add their rows themselves; the
    model makes sure that the table is there. Returns its columns as a query without rows. -#}
{%- macro load_log() -%}
    {{- config(materialized='cdc_load_log') -}}
select
    {%- for name, data_type in spark_cdc._load_log_columns().items() %}
    cast(null as {{ data_type }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
where false
{%- endmacro -%}


{#- The columns of cdc_loads and their types; the last two are its partitions. -#}
{%- macro _load_log_columns() -%}
    {{ return({
        'business_time': 'string',
        'load_type': 'string',
        'is_checkpoint': 'boolean',
        'parent_load_id': 'string',
        'replaced_load_ids': 'string',
        'input': 'string',
        'rows_in': 'bigint',
        'rows_rejected': 'bigint',
        'rows_inserted': 'bigint',
        'rows_updated': 'bigint',
        'rows_deleted': 'bigint',
        'rows_unchanged': 'bigint',
        'rows_not_supplied': 'bigint',
        'rows_prior': 'bigint',
        'rows_current': 'bigint',
        'started_at': 'timestamp',
        'committed_at': 'timestamp',
        'duration_seconds': 'double',
        'invocation_id': 'string',
        'dbt_version': 'string',
        'spark_version': 'string',
        'spark_cdc_version': 'string',
        'events_late': 'bigint',
        'events_control': 'bigint',
        'events_unexpected': 'bigint',
        'status': 'string',
        'guard': 'string',
        'message': 'string',
        'definition_change': 'string',
        'entity': 'string',
        'load_id': 'string',
    }) }}
{%- endmacro -%}
