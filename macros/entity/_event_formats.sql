{#- The formats of change events that the project reads. -#}
{%- macro _event_formats() -%}
    {{ return([
        'canal', 'change_arrays', 'debezium', 'debezium_flat', 'delta_cdf', 'dms', 'dms_stream', 'flagged_rows', 'goldengate',
        'iceberg_changelog', 'maxwell', 'sqlserver_cdc', 'wal2json',
    ]) }}
{%- endmacro -%}
