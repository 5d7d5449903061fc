{#- What is in a table of intervals: lands it, checks it, and finds its business times. Arguments:
    ctx, history. Returns a dictionary: entity (as it is imported), history (with incoming, the
    staged intervals as SQL, times and note). -#}
{%- macro _read_intervals(ctx, history) -%}
    {%- set found = spark_cdc._describe_query('select * from ' ~ history.table) -%}
    {%- set read = spark_cdc._imported_entity(ctx, history.table, 'delta', found) -%}
    {%- set entity = read.entity -%}
    {%- set history = dict(history, **spark_cdc._interval_columns(entity, history, found)) -%}
    {%- set view = spark_cdc._intervals_view_sql(entity, history, found) -%}
    {%- set words = spark_cdc._plan_refusal(spark_cdc._plan(view.partition(' as\n')[2])) -%}
    {%- do spark_cdc._stop('import_history', ["the history can't be read: " ~ words] if words else [],
        'Correct --deleted-when (deleted_when), a condition on columns of ' ~ history.table ~ '. Nothing was written.', entity) -%}
    {%- do spark_cdc._send(view) -%}
    {%- set carried = ['cdc__from', 'cdc__to', 'cdc__start', 'cdc__stop', 'cdc__gone', 'cdc__unread'] -%}
    {%- do spark_cdc._land_history(entity, history, carried + ['cdc__ends', 'cdc__is_open']) -%}
    {%- set staged = spark_cdc._stage_sql(dict(entity, deleted_when=read.deleted_when), spark_cdc._landed_view(entity), carried) -%}
    {%- set history = dict(history, incoming='(\n' ~ staged ~ '\n)', times=[],
        gone='(cdc__gone or cdc__deleted)' if read.deleted_when else 'cdc__gone') -%}
    {%- do spark_cdc._check_intervals(entity, history) -%}
    {%- for row in spark_cdc._query(spark_cdc._interval_times_sql(history)) -%}
        {%- do history.times.append(spark_cdc._business_time(row.business_time)) -%}
    {%- endfor -%}
    {{ return({'entity': entity, 'history': dict(history, note=spark_cdc._interval_note(entity, history))}) }}
{%- endmacro -%}


{#- The columns of a history by their names in the table. Returns a dictionary: valid_from,
    valid_to, is_current, deleted (condition as SQL), types (of them, by name), technical (columns
    that are no values of the entity, in lower case). -#}
{%- macro _interval_columns(entity, history, found) -%}
    {%- set own = {
        'dbt_snapshot': {'valid_from': 'dbt_valid_from', 'valid_to': 'dbt_valid_to', 'technical': ['dbt_scd_id', 'dbt_updated_at', 'dbt_is_deleted']},
        'scd2': {'valid_from': 'valid_from', 'valid_to': 'valid_to', 'technical': []},
        'satellite': {'valid_from': 'load_datetime', 'valid_to': none, 'technical': ['hashdiff', 'record_source']},
    }[history.format] -%}
    {%- set names, types, columns, problems = {}, {}, {}, [] -%}
    {%- for column in found -%}
        {%- do names.update({column.col_name | lower: column.col_name}) -%}
        {%- set type = column.data_type | lower -%}
        {%- do types.update({column.col_name: 'string' if type.startswith(('char(', 'varchar(')) else type}) -%}
    {%- endfor -%}
    {%- for part, accepted in {
        'valid_from': ['date', 'timestamp', 'timestamp_ntz', 'string'], 'valid_to': ['date', 'timestamp', 'timestamp_ntz', 'string'], 'is_current': ['boolean'],
    }.items() -%}
        {%- set name = history[part] or own.get(part) -%}
        {%- set is_there = name is none or name | lower in names -%}
        {%- set column = names[name | lower] if name is not none and is_there else none -%}
        {%- do columns.update({part: column}) -%}
        {%- do problems.extend(spark_cdc._failed_rules({
            'table': history.table, 'name': name, 'option': '--' ~ part.replace('_', '-'), 'found': names.values() | join(', '),
            'type': types.get(column), 'accepted': accepted | join(', '),
        }, [
            (not is_there, "%(table)s has no column '%(name)s' (%(option)s names another one); found: %(found)s"),
            (column is not none and types.get(column) not in accepted,
             "the column '%(name)s' of %(table)s is %(type)s; accepted for %(option)s are %(accepted)s"),
        ])) -%}
    {%- endfor -%}
    {%- set given = history.deleted_when -%}
    {%- set flag = names.get((given or '') | lower) -%}
    {%- if flag and types[flag] != 'boolean' -%}
        {%- do problems.append("the column '" ~ flag ~ "' of " ~ history.table ~ ' is ' ~ types[flag]
            ~ '; accepted for --deleted-when are a boolean column and a condition such as "' ~ flag ~ ' = \'D\'"') -%}
    {%- endif -%}
    {%- do spark_cdc._stop('import_history', problems, 'Nothing was written.', entity) -%}
    {%- set technical = own.technical + spark_cdc._names(history.ignore) + columns.values() | select | list + ([flag] if flag else []) -%}
    {%- set by_dbt = "lower(cast(dbt_is_deleted as string)) = 'true'" if history.format == 'dbt_snapshot' and 'dbt_is_deleted' in names else none -%}
    {{ return(dict(columns, types=types, technical=technical | map('lower') | list,
        deleted=spark_cdc._quote(flag) if flag else given or by_dbt or 'false')) }}
{%- endmacro -%}


{#- A temporary view of the table's columns, and beside them of each interval: cdc__from and
    cdc__to (when it begins and ends, on the clock of the entity's time zone; null: it is open),
    cdc__start and cdc__stop (the same as business times), cdc__gone (whether it stands for a
    delete) and cdc__unread (whether its end can't be read). dbt's record of a delete may have no
    key, and the one before it has ended, so it is left out. -#}
{%- macro _intervals_view_sql(entity, history, found) -%}
{%- set declared = entity.columns | map(attribute='from') | map('lower') | list -%}
{%- set open = spark_cdc._business_time(history.open_end) if history.open_end is not none else none -%}
create or replace temporary view {{ spark_cdc._files_view(entity) }} as
select
    *,
    if(cdc__is_open, null, cdc__ends) as cdc__to,
    {{ spark_cdc._as_business_time(entity, 'cdc__from') }} as cdc__start,
    if(cdc__is_open, null, {{ spark_cdc._as_business_time(entity, 'cdc__ends') }}) as cdc__stop,
    not cdc__is_open and cdc__ends is null as cdc__unread
from (
    select
        {%- for column in found if column.col_name | lower in declared or column.col_name | lower not in history.technical %}
        {{ spark_cdc._quote(column.col_name) }},
        {%- endfor %}
        {{ spark_cdc._interval_time(entity, history, history.valid_from) }} as cdc__from,
        {%- if history.valid_to %}
        {{ spark_cdc._interval_end(entity, history) }} as cdc__ends,
        {{ spark_cdc._is_open(entity, history, open) | indent(8) }} as cdc__is_open,
        {%- else %}
        cast(null as timestamp_ntz) as cdc__ends,
        true as cdc__is_open,
        {%- endif %}
        {{ 'false' if history.format == 'dbt_snapshot' else 'coalesce(' ~ history.deleted ~ ', false)' }} as cdc__gone
    from {{ history.table }}
    {%- if history.format == 'dbt_snapshot' %}
    where not coalesce({{ history.deleted }}, false)
    {%- endif %}
) as intervals
{%- endmacro -%}


{#- Whether an interval is open, as a condition. Argument: open (time that means so; none). -#}
{%- macro _is_open(entity, history, open) -%}
{%- set ends = spark_cdc._interval_time(entity, history, history.valid_to) -%}
{%- set is_day = open and open.strftime('%H%M%S') == '000000' -%}
{%- if history.is_current -%}
coalesce({{ spark_cdc._quote(history.is_current) }}, false)
{%- else -%}
{{ spark_cdc._quote(history.valid_to) }} is null
{%- if open %}
or coalesce({{ 'cast(' ~ ends ~ " as date) = date'" ~ open.strftime('%Y-%m-%d') if is_day
    else 'cast(left(cast(' ~ ends ~ " as string), 19) as timestamp_ntz) = timestamp_ntz'" ~ open.strftime('%Y-%m-%d %H:%M:%S') }}', false)
{%- endif -%}
{%- endif -%}
{%- endmacro -%}


{#- When an interval ends: the first moment that is not in it. An inclusive end is a date, its
    second, or, of daily business dates, the day that begins with it. -#}
{%- macro _interval_end(entity, history) -%}
{%- set ends = spark_cdc._interval_time(entity, history, history.valid_to) -%}
{%- if not history.inclusive_end -%}
{{ ends }}
{%- elif history.types[history.valid_to] == 'date' -%}
{{ ends }} + interval 1 day
{%- elif entity.eff_type == 'date' -%}
{{ ends }} + if({{ ends }} = cast(cast({{ ends }} as date) as timestamp_ntz), interval 24 hours, interval 1 second)
{%- else -%}
{{ ends }} + interval 1 second
{%- endif -%}
{%- endmacro -%}


{#- A column of the history as a timestamp_ntz on the clock of the entity's time zone; null for text
    that is no date. -#}
{%- macro _interval_time(entity, history, name) -%}
{%- set type = history.types[name] -%}
{%- set value = spark_cdc._date_column_value(dict(entity, source={'date_column': name, 'date_type': type})) -%}
{%- if type == 'timestamp' -%}
{{ spark_cdc._wall_clock('from_utc_timestamp(' ~ value ~ ', ' ~ spark_cdc._literal(entity.timezone) ~ ')') }}
{%- else -%}
cast({{ value }} as timestamp_ntz)
{%- endif -%}
{%- endmacro -%}


{#- The business time of a timestamp_ntz: its date, or its second. -#}
{%- macro _as_business_time(entity, sql) -%}
{{ return('cast(' ~ sql ~ ' as date)' if entity.eff_type == 'date' else 'cast(left(cast(' ~ sql ~ ' as string), 19) as timestamp_ntz)') }}
{%- endmacro -%}


{#- When the intervals begin and end, in order: business_time. No row has to be compared with the
    next of its key: intervals do not overlap, so that an end is a change, or the start of the
    next. -#}
{%- macro _interval_times_sql(history) -%}
select cast(cdc__time as string) as business_time
from (
    select explode(array(cdc__start, if(cdc__note is null, cdc__end, null))) as cdc__time
    from (
        {{ spark_cdc._lasting_intervals_sql(history, history.incoming) | indent(8) }}
    ) as lasting
) as times
where cdc__time is not null
group by cdc__time
order by cdc__time
{%- endmacro -%}


{#- How many rows each load of the intervals has: business_time, row_count. -#}
{%- macro _interval_counts_sql(history) -%}
select
    cast(cdc__step.time as string) as business_time,
    count(*) as row_count
from (
    {{ spark_cdc._interval_steps_sql(history, history.incoming) | indent(4) }}
) as steps
group by cdc__step.time
order by cdc__step.time
{%- endmacro -%}


{#- Refuses intervals that are no history, with examples of each fault. -#}
{%- macro _check_intervals(entity, history) -%}
    {%- set faulty = spark_cdc._faulty_intervals_sql(entity, history) -%}
    {%- set from, to = history.valid_from, history.valid_to or 'the next ' ~ history.valid_from -%}
    {%- set texts = {
        'key': 'no key (' ~ entity.key_columns | map(attribute='name') | join(', ') ~ ' is null)',
        'from': 'no start (' ~ from ~ ' is null or no date)',
        'to': to ~ (' is not there, although ' ~ history.is_current ~ ' is false' if history.is_current else ' that is no date'),
        'order': 'an end before the start (' ~ to ~ ' before ' ~ from ~ ')',
        'future': 'a start or an end after the present day. If it means an open end, name it with --open-end 9999-12-31',
        'repeated': 'the same key and start (' ~ from ~ ') as another one',
        'overlap': 'a start before the end of the one before, of the same key',
    } -%}
    {%- set lines = [] -%}
    {%- for row in spark_cdc._query('select cdc__fault, count(*) as faults\nfrom (\n' ~ faulty ~ '\n) as faulty\ngroup by cdc__fault\norder by cdc__fault') -%}
        {%- set examples, listed = spark_cdc._query('select *\nfrom (\n' ~ faulty ~ "\n) as faulty\nwhere cdc__fault = '" ~ row.cdc__fault
            ~ "'\norder by cdc__from\nlimit 3"), [] -%}
        {%- for line in spark_cdc._key_lines(entity, examples) -%}
            {%- set one = examples[loop.index0] -%}
            {%- do listed.append(line ~ ' (' ~ (one.cdc__from_text or 'null') ~ ' to ' ~ (one.cdc__to_text or 'open') ~ ')') -%}
        {%- endfor -%}
        {%- do lines.append(spark_cdc._counted(row.faults | int, 'row') ~ ' with ' ~ texts[row.cdc__fault] ~ ': ' ~ listed | join('; ')) -%}
    {%- endfor -%}
    {%- if lines -%}
        {%- set message -%}
{{ entity.name }}: {{ history.table }} is no history that can be imported:
  - {{ lines | join('\n  - ') }}
Nothing was written. Correct the table, or import a view that leaves these rows out:
  {{ history.command }}
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
{%- endmacro -%}


{#- The intervals that have a fault: key columns, cdc__from, its text and that of the end,
    cdc__fault. -#}
{%- macro _faulty_intervals_sql(entity, history) -%}
{#- the present day of any time zone -#}
{%- set latest = spark_cdc._time_literal(entity, spark_cdc._present_time(entity) + modules.datetime.timedelta(days=1)) -%}
select *
from (
    select
        {% for column in entity.key_columns -%}
        {{ column.sql }},
        {% endfor -%}
        cdc__from,
        cast(cdc__from as string) as cdc__from_text,
        cast(cdc__until as string) as cdc__to_text,
        case
            when key_hash is null then 'key'
            when cdc__from is null then 'from'
            when cdc__unread then 'to'
            when cdc__until < cdc__from then 'order'
            when cdc__start > {{ latest }} or cdc__end > {{ latest }} then 'future'
            when lag(cdc__from) over in_key = cdc__from then 'repeated'
            when lag(cdc__from) over in_key is not null and coalesce(lag(cdc__until) over in_key > cdc__from, true) then 'overlap'
        end as cdc__fault
    from (
        {{ spark_cdc._ended_intervals_sql(history, history.incoming) | indent(8) }}
    ) as ended
    window in_key as (partition by key_hash order by cdc__from, cdc__until nulls last)
)
where cdc__fault is not null
{%- endmacro -%}


{#- What is said of the intervals, before they are loaded. -#}
{%- macro _interval_note(entity, history) -%}
    {%- set sql -%}
select
    count(*) as all_rows,
    count_if({{ history.gone }}) as deletes,
    count_if(not {{ history.gone }} and cdc__end <= cdc__start and cdc__until > cdc__from) as hidden,
    count_if(not {{ history.gone }} and cdc__until = cdc__from) as empty
from (
    {{ spark_cdc._ended_intervals_sql(history, history.incoming) | indent(4) }}
) as ended
    {%- endset -%}
    {%- set row, is_daily = spark_cdc._query(sql)[0], entity.eff_type == 'date' -%}
    {%- set unit = 'date' if is_daily else 'second' -%}
    {%- set note -%}
{{ spark_cdc._counted(row.all_rows | int, 'row') }} of {{ history.table }}, at {{ spark_cdc._counted(history.times | length, 'business ' ~ unit) }}
{%- if row.deletes | int %}; {{ row.deletes }} stand for deletes{% endif -%}
{%- if row.hidden | int -%}
; {{ row.hidden }} began and ended within one {{ unit }} and {{ 'is' if row.hidden | int == 1 else 'are' }} left out, since only the last state of a {{ unit }} counts
{%- if is_daily %} (business_date_type: timestamp keeps times of day){% endif -%}
{%- endif -%}
{%- if row.empty | int %}; {{ row.empty }} ended when {{ 'it' if row.empty | int == 1 else 'they' }} began{% endif -%}
    {%- endset -%}
    {{ return(note) }}
{%- endmacro -%}
