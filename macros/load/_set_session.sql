{#- What a write needs of this session. Tables that an earlier version made lack the options that new ones have (see _create_table_sql()). Where rows are
    many, they meet by hash instead of being sorted where the hash maps are small, and no operators are fused into a method of more
    bytes than HotSpot compiles. Arguments: table (relation that is written), is_small (whether what is read besides the state is a few files,
    and the state has few rows). -#}
{%- macro _set_session(table, is_small=false) -%}
    {%- do spark_cdc._set_overwrite(table) -%}
    {%- if not is_small or not spark_cdc._has_option(table, 'parquet.page.verify-checksum.enabled=true') -%}
        {%- do spark_cdc._send('set `parquet.page.verify-checksum.enabled` = true') -%}  {#- of tables that are a source, too -#}
    {%- endif -%}
    {%- if not is_small -%}
        {%- do spark_cdc._send('set spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold = 128m') -%}
        {%- do spark_cdc._send('set spark.sql.codegen.hugeMethodLimit = 8000') -%}
    {%- endif -%}
{%- endmacro -%}
