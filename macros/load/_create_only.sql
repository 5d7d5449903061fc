{#- What --empty and --sample make of a table of loads: it is created if it is not there, and nothing is loaded. Arguments as of _settled_table(). -#}
{%- macro _create_only(entity, table, columns, partitions, hashes, is_kept=true) -%}
    {%- do log(entity.name ~ ': nothing is loaded with --empty or --sample; ' ~ table ~ ' is made if it is not there', info=true) -%}
    {%- if load_cached_relation(table) is none -%}
        {%- do spark_cdc._settled_table(entity, table, columns, partitions, hashes, is_kept) -%}
    {%- endif -%}
    {%- do store_raw_result('main', message='OK', code='OK', rows_affected='-1') -%}
{%- endmacro -%}
