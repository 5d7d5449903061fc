{#- Only the partitions that are written are to be replaced: new tables have an option for it, for others this session is told. -#}
{%- macro _set_overwrite(table) -%}
    {%- if not spark_cdc._has_option(table, 'partitionOverwriteMode=dynamic') -%}
        {%- do spark_cdc._send('set spark.sql.sources.partitionOverwriteMode = dynamic') -%}
    {%- endif -%}
{%- endmacro -%}
