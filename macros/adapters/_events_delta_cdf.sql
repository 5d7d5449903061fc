{#- Change-event format `delta_cdf`: rows of Delta Lake's Change Data Feed, as table_changes() and readChangeFeed give them. -#}
{%- macro _events_delta_cdf(entity, typed) -%}
{%- set change_type = spark_cdc._named_column(entity, '_change_type') -%}
{%- set version = spark_cdc._named_column(entity, '_commit_version') -%}
{%- set codes = {'insert': 'insert', 'delete': 'delete', 'update_preimage': 'delete', 'update_postimage': 'update'} -%}
select
    *,
    {{ spark_cdc._coded_operation(change_type.sql, codes) | indent(4) }} as event_op,
    array(
        {{ spark_cdc._order_parts([version]) | join(', ') }}{{ spark_cdc._change_feed_offset(entity) }},
        if({{ change_type.sql }} in ('delete', 'update_preimage'), 0L, 1L)
    ) as event_position,
    cast({{ version.sql }} as string) as event_transaction,
    {{ spark_cdc._event_instant(entity, spark_cdc._named_column(entity, '_commit_timestamp')) }} as event_time,
    {{ spark_cdc._coded_operation_problem(change_type.name, change_type.sql, codes) | indent(4) }} as event_problem,
    cast(null as map<string, string>) as event_before
from {{ typed }}
{%- endmacro -%}


{%- macro _events_delta_cdf_columns(entity) -%}
    {{ return([
        {'name': '_change_type', 'data_type': 'string', 'required': true},
        {'name': '_commit_version', 'data_type': 'bigint', 'required': true},
        {'name': '_commit_timestamp', 'data_type': 'timestamp', 'required': false},
    ]) }}
{%- endmacro -%}


{%- macro _events_delta_cdf_format() -%}
    {{ return({'has_order': true, 'feed': 'version'}) }}
{%- endmacro -%}


{%- macro _events_delta_cdf_problems(entity) -%}
    {{ return(spark_cdc._order_type_problems('the format', [spark_cdc._named_column(entity, '_commit_version')])) }}
{%- endmacro -%}
