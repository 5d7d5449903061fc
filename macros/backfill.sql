{#- Loads many dates of one or several entities in a few statements, each entity in one commit: readers see all of its dates, or none. Every date is a load
    of its own, checked as if it were loaded by itself; where one is refused, nothing is committed. Dates that are committed already are left out.
        dbt run-operation spark_cdc.backfill --args '{entities: [orders], dates: 2024-01-01..2024-12-31}'
    The views of a first load are not made here: dbt run --select tag:spark_cdc.orders,config.materialized:cdc_view does that.
    Arguments: entities (list of names, or one), dates (a date, a range FIRST..LAST of days, or a list of such), skip_missing (whether dates of which
    nothing has landed are left out), dates_per_statement (how many are staged and compared together, at most 60). Returns nothing. -#}
{%- macro backfill(entities, dates, skip_missing=false, dates_per_statement=60) -%}
    {%- do spark_cdc._check_arguments('backfill', {'entities': entities, 'skip_missing': skip_missing, 'dates_per_statement': dates_per_statement}) -%}
    {%- if dates_per_statement is not integer or not 1 <= dates_per_statement <= 60 -%}
        {%- do exceptions.raise_compiler_error(
            "spark_cdc.backfill: dates_per_statement is '" ~ dates_per_statement ~ "'; accepted are numbers from 1 to 60. Nothing was written."
        ) -%}
    {%- endif -%}
    {%- set times = spark_cdc._backfill_times(dates) -%}
    {%- set captures = spark_cdc._captures('backfill', entities) -%}
    {%- set problems = [] -%}
    {%- for capture in captures -%}{%- do problems.extend(spark_cdc._backfill_problems(capture, times)) -%}{%- endfor -%}
    {%- if problems -%}
        {%- set message -%}
spark_cdc.backfill found {{ spark_cdc._counted(problems | length, 'problem') }} before anything was written:
  - {{ problems | join('\n  - ') }}
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- for capture in captures -%}
        {%- do spark_cdc._backfill_entity(capture, times, skip_missing, dates_per_statement) -%}
    {%- endfor -%}
{%- endmacro -%}
