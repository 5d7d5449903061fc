{#- Change-event format `delta_cdf`: rows of Delta Lake's Change Data Feed, as table_changes() and
    readChangeFeed give them. -#}
{%- macro _events_delta_cdf(entity, typed) -%}
{%- set version = spark_cdc._named_column(entity, '_commit_version') -%}
{{ spark_cdc.row_events(entity, typed, {
    'operation': '_change_type',
    'codes': {'insert': 'insert', 'delete': 'delete', 'update_preimage': 'delete', 'update_postimage': 'update'},
    'position': [spark_cdc._order_parts([version]) | join(', ') ~ spark_cdc._change_feed_offset(entity)], 'halves': true,
    'transaction': 'cast(' ~ version.sql ~ ' as string)',
    'time': '_commit_timestamp',
}) }}
{%- endmacro -%}


{%- macro _events_delta_cdf_format() -%}
    {{ return({'shape': 'rows', 'has_order': true, 'feed': 'version', 'columns': [
        {'name': '_change_type', 'data_type': 'string', 'required': true},
        {'name': '_commit_version', 'data_type': 'bigint', 'required': true, 'gives_order': true},
        {'name': '_commit_timestamp', 'data_type': 'timestamp'},
    ]}) }}
{%- endmacro -%}
