{#- Change-event format `iceberg_changelog`: rows of the view that Iceberg's procedure
    create_changelog_view makes. Its ordinals count from the view's first snapshot, so either all
    views begin at the same one, or columns under events.order come first. -#}
{%- macro _events_iceberg_changelog(entity, typed) -%}
{%- set ordinal = spark_cdc._named_column(entity, '_change_ordinal') -%}
{%- set parts = spark_cdc._order_parts(entity.events.order + [ordinal]) -%}
{{ spark_cdc.row_events(entity, typed, {
    'operation': '_change_type',
    'codes': {'INSERT': 'insert', 'DELETE': 'delete', 'UPDATE_BEFORE': 'delete', 'UPDATE_AFTER': 'update'},
    'position': parts[:-1] + [parts[-1] ~ spark_cdc._change_feed_offset(entity)], 'halves': true,
    'transaction': 'cast(' ~ spark_cdc._named_column(entity, '_commit_snapshot_id').sql ~ ' as string)',
}) }}
{%- endmacro -%}


{%- macro _events_iceberg_changelog_format() -%}
    {{ return({'shape': 'rows', 'settings': {'time': 'time'}, 'feed': 'snapshot', 'columns': [
        {'name': '_change_type', 'data_type': 'string', 'required': true},
        {'name': '_change_ordinal', 'data_type': 'int', 'required': true, 'gives_order': true},
        {'name': '_commit_snapshot_id', 'data_type': 'bigint', 'required': true},
    ]}) }}
{%- endmacro -%}
