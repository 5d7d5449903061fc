{#- Of which tables and logs the events of a load are (see _event_origin()), beside what is known of loads before.
    Arguments: run (of _event_summary()), events (relation), row (of _event_summary_sql()). Returns a dictionary: origin (names of the `table` and the `log`
    that were seen last, where there are any; the table is * once there were several), and origins (for each of the two that is not what it was, or is not one,
    the names found with their number of events, the most frequent first). -#}
{%- macro _found_origins(run, events, row) -%}
    {%- set before = run.load.applied.get('origin') or {} -%}
    {%- set origin, origins = dict(before), {} -%}
    {%- for part in spark_cdc._origin_parts() if row.get('source_' ~ part ~ '_lowest') is not none -%}
        {%- set is_one = row['source_' ~ part ~ '_lowest'] == row['source_' ~ part ~ '_highest'] -%}
        {%- if not is_one or part not in before or row['source_' ~ part ~ '_other'] | int -%}
            {%- set found = {} -%}
            {%- for one in spark_cdc._query(spark_cdc._origin_names_sql(events, part)) -%}{%- do found.update({one.source_name: one.event_count | int}) -%}{%- endfor -%}
            {%- do origins.update({part: found}) if not is_one or part in before -%}
            {%- set new = found | reject('equalto', before.get(part)) | first -%}
            {%- do origin.update({part: '*' if part == 'table' and part in origins else new}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return({'origin': origin, 'origins': origins}) }}
{%- endmacro -%}


{%- macro _origin_parts() -%}{{ return(['table', 'log']) }}{%- endmacro -%}


{#- Whether the names are one, as columns of a summary: numbers, since Spark sorts rows to compare texts. Argument: origin (of loads before). -#}
{%- macro _found_origins_figures(origin) -%}
    {%- for part in spark_cdc._origin_parts() -%}
        {%- set name = 'event_origin.source_' ~ part -%}
        {%- for aggregate, label in [('min', 'lowest'), ('max', 'highest')] -%}
{{ aggregate }}(if({{ name }} is null, null, xxhash64({{ name }}))) as source_{{ part }}_{{ label }},
{% endfor -%}
count_if({{ name ~ ' <> ' ~ spark_cdc._literal(origin[part]) if part in origin else 'false' }}) as source_{{ part }}_other{{ ',\n' if not loop.last }}
{%- endfor -%}
{%- endmacro -%}


{%- macro _origin_names_sql(events, part) -%}
select
    event_origin.source_{{ part }} as source_name,
    count(*) as event_count
from {{ events }}
where event_origin.source_{{ part }} is not null
group by source_name
order by event_count desc, source_name asc
limit 6
{%- endmacro -%}
