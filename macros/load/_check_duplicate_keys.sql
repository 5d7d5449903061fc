{#- A key may come once in a load. A key that came twice unchanged in a full load is not written, and shows in the counts. Arguments: run, known (figures
    of the audit; repeated: of _repeats_sql()). -#}
{%- macro _check_duplicate_keys(run, known) -%}
    {%- if known.repeated -%}
        {%- set count = known.repeated -%}
        {%- set written = spark_cdc._from(spark_cdc._laid_out(run.entity, run.ledger, known.record.get('layout') or {}))
            ~ '\nwhere ' ~ spark_cdc._repeats_condition(run) -%}
        {%- set examples = spark_cdc._query(spark_cdc._repeated_keys_sql(run.entity, written, "and max(operation <> 'R')")) -%}
        {%- set what = '1000 or more keys come' if count == 1000 else '1 key comes' if count == 1 else count ~ ' keys come' -%}
        {%- do spark_cdc._refuse_duplicates(run, known, what, examples) -%}
    {%- endif -%}
{%- endmacro -%}
