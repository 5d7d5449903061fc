{#- A key may come once in a load. Keys whose rows are written are looked at here, on the narrow hash column; a key
    that came twice unchanged in a full load shows in the counts. A rejected row counts, too, beside one that was accepted. -#}
{%- macro _check_duplicate_keys(run, known) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- set operations = spark_cdc._operations('received' if known.counts.R and not entity.events else 'supplied') -%}
    {%- set condition = "load_id = '" ~ load.load_id ~ "' and operation in " ~ operations -%}
    {%- set sql -%}
select key_hash
from {{ run.ledger }}
where {{ condition }} and key_hash is not null
group by key_hash
having count(*) > 1 and max(operation <> 'R')
limit 1000
    {%- endset -%}
    {%- set count = spark_cdc._query(sql) | length -%}
    {%- if count -%}
        {%- set written = spark_cdc._from(spark_cdc._laid_out(entity, run.ledger, known.record.get('layout') or {})) ~ '\nwhere ' ~ condition -%}
        {%- set examples = spark_cdc._query(spark_cdc._repeated_keys_sql(entity, written, "and max(operation <> 'R')")) -%}
        {%- set what = '1000 or more keys come' if count == 1000 else '1 key comes' if count == 1 else count ~ ' keys come' -%}
        {%- do spark_cdc._refuse_duplicates(run, known, what, examples) -%}
    {%- endif -%}
{%- endmacro -%}
