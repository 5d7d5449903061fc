{#- Says that refused loads have been seen, such as one of a mistyped date, which will never be loaded: their rows of cdc_loads get the status `acknowledged`, and
    the report, metrics and alerts pass over them. A load of the same date that is refused later is reported again.
        dbt run-operation spark_cdc.acknowledge --args '{dates: [2062-03-01], entities: [orders]}'
    Arguments: dates (list of business dates or times, or one), entities (list of names, or one; none for all). Returns nothing. -#}
{%- macro acknowledge(dates, entities=none) -%}
    {%- set wanted = [dates] if dates is string or dates is not iterable else dates -%}
    {%- set load_log, captures = spark_cdc._load_log(), spark_cdc._captures('acknowledge', entities) -%}
    {%- do spark_cdc._ensure_load_log(load_log) -%}
    {%- set sql -%}
select
    entity,
    business_time,
    load_id
from {{ spark_cdc._own(load_log) }}
where status = 'refused' and entity in ({{ spark_cdc._literals((captures | map(attribute='entity.name') | list) or ['']) }})
order by business_time, load_id
    {%- endset -%}
    {%- set refused = spark_cdc._query(sql) | list -%}
    {%- set chosen, problems = {}, [] -%}
    {%- for date in wanted -%}
        {%- set time = spark_cdc._business_time(date) -%}
        {%- set found = [] -%}
        {%- for row in refused if time is not none and spark_cdc._business_time(row.business_time) == time -%}{%- do found.append(row) -%}{%- endfor -%}
        {%- for row in found -%}{%- do chosen.setdefault(row.entity, []).append(row) -%}{%- endfor -%}
        {%- do problems.append("'%s'%s" % (date, ' is no date that exists' if time is none else '')) if not found -%}
    {%- endfor -%}
    {%- if problems or not wanted -%}
        {%- set there = [] -%}
        {%- for row in refused -%}{%- do there.append(row.entity ~ ' ' ~ row.business_time) -%}{%- endfor -%}
        {%- do exceptions.raise_compiler_error('spark_cdc.acknowledge: no load of ' ~ (problems | join(', ') or 'no date') ~ ' was refused and not acknowledged yet; those that were: '
            ~ (there | unique | join(', ') or 'none') ~ '. Nothing was changed. spark-cdc acknowledge DATE --select ENTITY takes their dates.') -%}
    {%- endif -%}
    {%- for name, rows in chosen.items() -%}
        {%- do spark_cdc._set_load_status(load_log, 'refused', 'acknowledged', name, rows | map(attribute='load_id') | unique | list) -%}
        {%- do log(name ~ ': acknowledged ' ~ spark_cdc._counted(rows | length, 'refused load') ~ ' of ' ~ rows | map(attribute='business_time') | unique | join(', ')
            ~ '; what is refused again is reported again', info=true) -%}
    {%- endfor -%}
{%- endmacro -%}
