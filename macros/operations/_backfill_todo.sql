{#- The times of which no load is committed. -#}
{%- macro _backfill_todo(capture, manifest, times) -%}
    {%- set committed = [] -%}
    {%- for load_id in spark_cdc._loads_by_date(capture.masked, manifest.loads) -%}{%- do committed.append(spark_cdc._load_time(load_id)) -%}{%- endfor -%}
    {{ return(times | reject('in', committed) | list) }}
{%- endmacro -%}
