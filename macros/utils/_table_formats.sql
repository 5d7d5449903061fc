{#- The table formats: they keep a log of which files a table has, and past states of it (snapshots); their partitions are rows of that log, and
    not folders that the metastore knows. -#}
{%- macro _table_formats() -%}{{ return(['delta', 'iceberg']) }}{%- endmacro -%}
