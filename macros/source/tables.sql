{#- A table's rows belong to the date that its date column shows, or to the second where loads are
    finer than a day. Of source.date_type, the column's type: _date_column_found(). -#}


{#- The entity with the column's name and type as the table has them; date_type is none without
    one. -#}
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
{%- set clock = 'cast(' ~ spark_cdc._wall_clock('from_utc_timestamp(' ~ value ~ ', ' ~ spark_cdc._literal(entity.timezone) ~ ')') ~ ' as string)'
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


{#- Checks that a table has no rows that no load would ever read. Returns none, or a refusal. -#}
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
    {%- set problem -%}
the table {{ landing }} can't be read by business date: {{ problem }}. Correct the data or source.date_column of
stg_{{ entity.name }}, or read a view that shows the business date in a column of its own.
    {%- endset -%}
    {{ return(spark_cdc._load_refusal(entity, guard, problem)) }}
{%- endmacro -%}


{#- Entities whose source is the change feed of a Delta or Iceberg table itself.
    _run_with_change_feed() decides which part of it a load reads. The load's record has it as
    `feed`, and then the entity's source:
        table   the name of the table, as SQL
        id      identifies the table among those of that name; none if unknown
        after   the version or snapshot up to which the feed was read before; none: read all rows
        to      the one up to which it is read now; none while the table has no snapshot
        at      the time of that one, as text; none if unknown
        offset  added to the numbers of the feed, so that positions rise over all loads
        number  the place of all rows in that order, where all rows of the table are read. -#}


{#- The name of the table: what the YAML says, else the dbt source that stage() names. -#}
{%- macro _change_feed_table(entity) -%}
    {%- set parts = [] -%}
    {%- for part in (entity.source.table or '').split('.') | select -%}{%- do parts.append(spark_cdc._quote(part)) -%}{%- endfor -%}
    {{ return(parts | join('.') or spark_cdc._landing_source(entity) | string) }}
{%- endmacro -%}


{#- The entity with what a load reads of the feed. A full snapshot among events has the place of the
    version that it is. -#}
{%- macro _entity_of_change_feed(entity, feed) -%}
    {%- if not feed -%}{{ return(entity) }}{%- endif -%}
    {%- set read = dict(entity, source=dict(entity.source, feed=feed)) -%}
    {%- if entity.events.format != 'full_snapshot' -%}{{ return(read) }}{%- endif -%}
    {{ return(dict(read, events=dict(entity.events, snapshot={'numbers': [feed.number]}))) }}
{%- endmacro -%}


{#- The macro _events_<format>_feed_<what> of the format that the entity's YAML names: a full
    snapshot among events has a format of its own. -#}
{%- macro _change_feed_adapter(entity, what) -%}
    {{ return(spark_cdc._adapter(entity.events.get('declared', entity.events).format, '_feed_' ~ what)) }}
{%- endmacro -%}


{#- Whether there is nothing to read: the table is where it was. -#}
{%- macro _is_change_feed_empty(entity) -%}
    {%- set feed = entity.source.get('feed') -%}
    {{ return(feed is mapping and feed.to == feed.after) }}
{%- endmacro -%}


{#- What is added to the number of an event, as SQL. -#}
{%- macro _change_feed_offset(entity) -%}
    {%- set offset = (entity.source.get('feed') or {}).get('offset') -%}
    {{ return(' + ' ~ offset ~ 'L' if offset else '') }}
{%- endmacro -%}


{#- The part of the feed that a load reads, in words. -#}
{%- macro _change_feed_text(entity) -%}
    {%- set feed = entity.source.get('feed') -%}
    {%- set unit = spark_cdc._adapter_format(entity.events.get('declared', entity.events).format).feed -%}
    {%- if not feed -%}
        {{ return('the change feed of ' ~ spark_cdc._change_feed_table(entity)) }}
    {%- elif spark_cdc._is_change_feed_empty(entity) -%}
        {{ return('no ' ~ unit ~ ' of ' ~ feed.table ~ (' after ' ~ feed.after if feed.after is not none)) }}
    {%- elif feed.after is none -%}
        {{ return('all rows of ' ~ feed.table ~ ' as of ' ~ unit ~ ' ' ~ feed.to) }}
    {%- endif -%}
    {{ return('changes of ' ~ feed.table ~ ' after ' ~ unit ~ ' ' ~ feed.after ~ ' up to ' ~ feed.to) }}
{%- endmacro -%}


{#- Why the feed of a table can't be read; none if it can.
    Arguments: table, plan (of a query of it), product (whose table it has to be), is_other (whether
    it is none, or the server lacks the product). -#}
{%- macro _change_feed_table_problem(table, plan, product, is_other) -%}
    {%- set words = spark_cdc._plan_refusal(plan) or '' -%}
    {%- if '_NOT_FOUND]' in words and 'DATA_SOURCE_NOT_FOUND' not in words -%}
        {{ return('the table ' ~ table ~ ' is not there (' ~ words ~ '). Correct source.table') }}
    {%- elif is_other -%}
        {{ return(table ~ ' can not be read as a table of ' ~ product ~ ': it is one of another format, or the server lacks ' ~ product
            ~ (' (' ~ words ~ ')' if words) ~ '. Name a table of ' ~ product ~ ', and give the server what it takes (docs/source_feeds.md)') }}
    {%- endif -%}
    {{ return(none) }}
{%- endmacro -%}


{#- The business time to load, if the table has changed since it was read: now, in UTC.
    Returns a list of it, or an empty one.
    Arguments: entity, now (the table), head (manifest that readers see), since (time of the last
    load, or none). -#}
{%- macro _change_feed_due(entity, now, head, since) -%}
    {%- set read = (head.get('applied') or {}).get('feed') -%}
    {%- set time = spark_cdc._business_time(spark_cdc._time_now('%Y-%m-%d' if entity.eff_type == 'date' else '%Y-%m-%d %H:%M:%S')) -%}
    {%- set is_read = read is mapping and read.id == now.id and read.to == now.newest -%}
    {{ return([] if is_read or since is not none and time <= since else [time]) }}
{%- endmacro -%}
