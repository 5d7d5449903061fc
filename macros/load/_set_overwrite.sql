{#- Only the partitions that are written are to be replaced: tables of plain files have an option for it, for others, and where nobody has looked, this
    session is told. -#}
{%- macro _set_overwrite(table) -%}
    {%- if load_cached_relation(table) is none or not spark_cdc._has_option(table, 'partitionOverwriteMode=dynamic') -%}
        {%- do spark_cdc._send('set spark.sql.sources.partitionOverwriteMode = dynamic') -%}
    {%- endif -%}
{%- endmacro -%}
