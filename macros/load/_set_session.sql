{#- What the write needs of this session: only the partitions that are written are replaced, rows meet by hash instead of being sorted where the
    hash maps are small, no operators are fused into a method of more bytes than HotSpot compiles, and Parquet's pages are held against their checksums, which
    are written in any case (https://parquet.apache.org/docs/file-format/data-pages/checksumming). -#}
{%- macro _set_session() -%}
    {%- do run_query('set spark.sql.sources.partitionOverwriteMode = dynamic') -%}
    {%- do run_query('set spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold = 128m') -%}
    {%- do run_query('set spark.sql.codegen.hugeMethodLimit = 8000') -%}
    {%- do run_query('set `parquet.page.verify-checksum.enabled` = true') -%}
{%- endmacro -%}
