{#- Change-event format `iceberg_changelog`: rows of the view that Iceberg's procedure create_changelog_view makes. Its
    ordinals count from the view's first snapshot, so either all views begin at the same one, or columns under
    events.order come first. -#}
{%- macro _events_iceberg_changelog(entity, typed) -%}
{%- set change_type = spark_cdc._named_column(entity, '_change_type') -%}
{%- set ordinal = spark_cdc._named_column(entity, '_change_ordinal') -%}
{%- set codes = {'INSERT': 'insert', 'DELETE': 'delete', 'UPDATE_BEFORE': 'delete', 'UPDATE_AFTER': 'update'} -%}
select
    *,
    {{ spark_cdc._coded_operation(change_type.sql, codes) | indent(4) }} as event_op,
    array(
        {{ spark_cdc._order_parts(entity.events.order + [ordinal]) | join(',\n        ') }}{{ spark_cdc._change_feed_offset(entity) }},
        if({{ change_type.sql }} in ('DELETE', 'UPDATE_BEFORE'), 0L, 1L)
    ) as event_position,
    cast({{ spark_cdc._named_column(entity, '_commit_snapshot_id').sql }} as string) as event_transaction,
    {{ spark_cdc._event_instant(entity, spark_cdc._named_column(entity, entity.events.get('time'))) }} as event_time,
    {{ spark_cdc._coded_operation_problem(change_type.name, change_type.sql, codes) | indent(4) }} as event_problem,
    cast(null as map<string, string>) as event_before
from {{ typed }}
{%- endmacro -%}


{%- macro _events_iceberg_changelog_columns(entity) -%}
    {{ return([
        {'name': '_change_type', 'data_type': 'string', 'required': true},
        {'name': '_change_ordinal', 'data_type': 'int', 'required': true},
        {'name': '_commit_snapshot_id', 'data_type': 'bigint', 'required': true},
    ]) }}
{%- endmacro -%}


{%- macro _events_iceberg_changelog_format() -%}
    {{ return({'settings': {'time': none}, 'feed': 'snapshot'}) }}
{%- endmacro -%}


{%- macro _events_iceberg_changelog_problems(entity) -%}
    {{ return(
        spark_cdc._order_type_problems('the format', [spark_cdc._named_column(entity, '_change_ordinal')])
        + spark_cdc._order_type_problems('events.order', entity.events.order)
        + spark_cdc._adapter_column_problems(entity, ['time'], 'time')
    ) }}
{%- endmacro -%}
