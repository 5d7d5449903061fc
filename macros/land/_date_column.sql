{#- A table's rows belong to the date that its date column shows, or to the second where loads are
    finer than a day. Of source.date_type, the column's type: _date_column_found(). -#}


{#- The entity with the column's name and type as the table has them; date_type is none without one. -#}
{%- macro _date_column_found(entity, landing) -%}
    {%- set found = {'date_type': none} -%}
    {%- for column in spark_cdc._described('describe query select * from ' ~ landing) if column.col_name | lower == entity.source.date_column | lower -%}
        {%- set type = column.data_type | lower -%}
        {%- do found.update({'date_column': column.col_name, 'date_type': 'string' if type.startswith(('char(', 'varchar(')) else type}) -%}
    {%- endfor -%}
    {{ return(dict(entity, source=dict(entity.source, **found))) }}
{%- endmacro -%}


{#- The column's value as a date, timestamp or timestamp_ntz; null for text that is none. -#}
{%- macro _date_column_value(entity) -%}
{%- set column = spark_cdc._quote(entity.source.date_column) -%}
{%- if entity.source.get('date_type') == 'string' -%}
try_cast(if({{ column }} rlike '^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([ T][0-9:.]+)?$', {{ column }}, null) as timestamp_ntz)
{%- else -%}
{{ 'cast(' ~ column ~ ' as timestamp_ntz)' if entity.source.get('date_type') == 'date' and entity.eff_type != 'date' else column }}
{%- endif -%}
{%- endmacro -%}


{#- Rows of some business times, as a condition by which Spark can skip files and partitions. -#}
{%- macro _date_column_condition(entity, times) -%}
    {%- set value, literals, ranges = spark_cdc._date_column_value(entity), [], [] -%}
    {%- for time in times -%}
        {%- do literals.append(spark_cdc._date_column_literal(entity, time)) -%}
        {%- do ranges.append(value ~ ' >= ' ~ literals[-1] ~ ' and ' ~ value ~ ' < '
            ~ spark_cdc._date_column_literal(entity, spark_cdc._date_column_next(entity, time))) -%}
    {%- endfor -%}
    {%- if entity.eff_type == 'date' and entity.source.get('date_type', 'date') == 'date' -%}
        {{ return(value ~ (' = ' ~ literals[0] if times | length == 1 else ' in (' ~ literals | join(', ') ~ ')')) }}
    {%- endif -%}
    {{ return('(' ~ ranges | join(')\n    or (') ~ ')') }}
{%- endmacro -%}


{#- When a business time begins, as a literal to compare with the column's values. -#}
{%- macro _date_column_literal(entity, time) -%}
    {%- set zone = {'UTC': '+00:00'}.get(entity.timezone, entity.timezone) -%}
    {%- set type = entity.source.get('date_type') or entity.eff_type -%}
    {%- if entity.eff_type == 'date' and type == 'date' -%}{{ return(spark_cdc._time_literal(entity, time)) }}{%- endif -%}
    {%- set clock = time.strftime('%Y-%m-%d %H:%M:%S') -%}
    {{ return("timestamp'" ~ clock ~ (' ' ~ zone if '/' in zone else zone) ~ "'" if type == 'timestamp' else "timestamp_ntz'" ~ clock ~ "'") }}
{%- endmacro -%}


{%- macro _date_column_next(entity, time) -%}
    {{ return(time + modules.datetime.timedelta(days=1 if entity.eff_type == 'date' else 0, seconds=0 if entity.eff_type == 'date' else 1)) }}
{%- endmacro -%}


{#- The business time of a row as text, in any time zone of the session. -#}
{%- macro _date_column_text(entity) -%}
{%- set value = spark_cdc._date_column_value(entity) -%}
{%- set clock = spark_cdc._wall_clock_text('from_utc_timestamp(' ~ value ~ ', ' ~ spark_cdc._literal(entity.timezone) ~ ')')
    if entity.source.get('date_type') == 'timestamp' else 'cast(' ~ value ~ ' as string)' -%}
left({{ clock }}, {{ 10 if entity.eff_type == 'date' else 19 }})
{%- endmacro -%}


{#- Why the column can't tell the business date; none if it can. -#}
{%- macro _date_column_problem(entity) -%}
    {%- set type, accepted = entity.source.date_type, ['date', 'timestamp', 'timestamp_ntz', 'string'] -%}
    {{ return(spark_cdc._broken({'name': entity.source.date_column, 'type': type, 'accepted': accepted | join(', ')}, [
        (type is none, "it has no column '%(name)s', which source.date_column names"),
        (type is not none and type not in accepted, "its column '%(name)s', which source.date_column names, is %(type)s; accepted are %(accepted)s"),
    ]) | first | default(none)) }}
{%- endmacro -%}


{#- Refuses a table with rows that no load would ever read. Returns none, or {guard, message}. -#}
{%- macro _check_date_column(entity, landing) -%}
    {%- set problem, guard = spark_cdc._date_column_problem(entity), 'missing_columns' if entity.source.date_type is none else 'column_types' -%}
    {%- if not problem -%}
        {%- set column = spark_cdc._quote(entity.source.date_column) -%}
        {%- set sql -%}
select
    count(*) as row_count,
    coalesce(min({{ spark_cdc._shown(column) }}), 'null') as shown
from {{ landing }}
where {{ spark_cdc._date_column_value(entity) }} is null
        {%- endset -%}
        {%- set unread = spark_cdc._query(sql)[0] -%}
        {%- if not unread.row_count | int -%}{{ return(none) }}{%- endif -%}
        {%- set guard = 'unread_rows' -%}
        {%- set problem = spark_cdc._counted(unread.row_count | int, 'row') ~ ' of it would never be loaded: ' ~ entity.source.date_column ~ ' is '
            ~ unread.shown ~ ', for instance; accepted are dates such as 2024-03-01, with or without a time' -%}
    {%- endif -%}
    {%- set message -%}
{{ entity.name }}: the table {{ landing }} can't be read by business date: {{ problem }}. Correct the data or source.date_column of {# -#}
stg_{{ entity.name }}, or read a view that shows the business date in a column of its own. Nothing was written.
    {%- endset -%}
    {{ return({'guard': guard, 'message': message}) }}
{%- endmacro -%}
