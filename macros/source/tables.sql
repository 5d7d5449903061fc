{#- A table's rows belong to the date that its date column shows, or to the second where loads are
    finer than a day. Of source.date_type, the column's type: _date_column_found(). Without a date
    column a full load takes all rows of the table as they are when it runs. -#}


{#- The present business time of an entity: now, in UTC. -#}
{%- macro _present_time(entity) -%}
    {{ return(spark_cdc._business_time(spark_cdc._time_now('%Y-%m-%d' if entity.eff_type == 'date' else '%Y-%m-%d %H:%M:%S'))) }}
{%- endmacro -%}


{#- The entity with the column's name and type as the table has them; date_type is none without
    one. -#}
{%- macro _date_column_found(entity, landing) -%}
    {%- if spark_cdc._reads_whole_table(entity.source) -%}{{ return(entity) }}{%- endif -%}
    {%- set found = {'date_type': none} -%}
    {%- for column in spark_cdc._describe_query('select * from ' ~ landing) if column.col_name | lower == entity.source.date_column | lower -%}
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


{#- Why the column can't tell the business date; none if it can, or none is to. -#}
{%- macro _date_column_problem(entity) -%}
    {%- if spark_cdc._reads_whole_table(entity.source) -%}{{ return(none) }}{%- endif -%}
    {%- set type, accepted = entity.source.date_type, ['date', 'timestamp', 'timestamp_ntz', 'string'] -%}
    {{ return((spark_cdc._failed_rules({'name': entity.source.date_column, 'type': type, 'accepted': accepted | join(', ')}, [
        (type is none, "it has no column '%(name)s', which source.date_column names"),
        (type is not none and type not in accepted, "its column '%(name)s', which source.date_column names, is %(type)s; accepted are %(accepted)s"),
    ]) + [none]) | first) }}
{%- endmacro -%}


{#- Checks that a table has no rows that no load would ever read. Returns none, or a refusal. -#}
{%- macro _check_date_column(entity, landing) -%}
    {%- if spark_cdc._reads_whole_table(entity.source) -%}{{ return(none) }}{%- endif -%}
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
        number  the place of all rows in that order, where all rows of the table are read
        is_now  whether they are read as the table is now: its columns have changed since `to`
        fields  which field of the table each declared column is (see _change_feed_fields())
        log     where the table's own log stood; only of formats that have no versions. -#}


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


{#- Which field of a table each declared column is. A column that was dropped and added again, or
    that has another one's name now, changes its values without a row in the table's feed. Such
    columns are other fields: in Iceberg a field has an id, in Delta a physical name, which no other
    field of the table ever gets.
    Arguments: entity, feed, now, known (what the load before noted of its feed; empty where it
    noted nothing).
    Returns a dictionary: problem (none), log (of the feed), fields. These are by a column's name in
    lower case a dictionary, empty where the table lacks it: the id of the column (under an empty
    name) and of the fields nested in it (under their paths). What the table lacks now is kept as
    it was, in case that it comes back. -#}
{%- macro _change_feed_fields(entity, feed, now, known) -%}
    {%- set names, before, table = entity.stored | map(attribute='name') | map('lower') | list, {}, feed.table -%}
    {%- for column in entity.stored -%}
        {%- set former = [column.name | lower] + column.renamed_from | map('lower') | reject('in', names) | list -%}
        {%- for name in (former | select('in', known.get('fields') or {}) | list)[:1] -%}
            {%- do before.update({column.name | lower: known.fields[name]}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set found = spark_cdc._change_feed_adapter(entity, 'schemas')(feed, now, known, before | length == names | length) -%}
    {%- if found.problem -%}{{ return({'problem': found.problem}) }}{%- endif -%}
    {%- set other, fields = {}, dict(before) -%}
    {%- for schema in found.schemas -%}
        {%- set all = {} -%}
        {%- for field in schema.fields -%}{%- do all.update({field.name | lower: spark_cdc._field_ids(field)}) -%}{%- endfor -%}
        {%- for column in entity.stored -%}
            {%- set name, ids = column.name | lower, all.get(column.from | lower) or {} -%}
            {%- set was = before.get(name) or {} -%}
            {%- for path, id in ids.items() if id != was.get(path, id) -%}
                {%- set moved = [] -%}
                {%- for one, of_one in all.items() if not path and of_one[''] == was[path] -%}{%- do moved.append(one) -%}{%- endfor -%}
                {%- do other.update({column.name ~ ('.' ~ path if path): ' (its former field is ' ~ moved[0] ~ ' now)' if moved else ''}) -%}
            {%- endfor -%}
            {%- do fields.update({name: dict(fields.get(name) or {}, **ids)}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set listed = [] -%}
    {%- for name, now_at in other.items() -%}{%- do listed.append(name ~ now_at) -%}{%- endfor -%}
    {%- set problem -%}
the table has another field by now under the name of {{ listed | join(', ') }}: columns of {{ table }} were dropped and added again, or changed their names, {# -#}
since the last load. Its change feed has no rows for that, so that rows of earlier loads would keep values which the table no longer has. {# -#}
Where only a name has changed, let `from` of the column in stg_{{ entity.name }} follow it
    {%- endset -%}
    {{ return({'problem': problem if listed else none, 'fields': fields, 'log': spark_cdc._change_feed_log(now)}) }}
{%- endmacro -%}


{#- Where the log of a table without versions ends, in 14 characters; none of other tables. -#}
{%- macro _change_feed_log(now) -%}
    {{ return(spark_cdc._short_file_name((now.log | last).file) if now.get('log') else none) }}
{%- endmacro -%}


{#- The begin of a metadata file's name, with its number: 00003-21782bd7. -#}
{%- macro _short_file_name(path) -%}{{ return(path.rpartition('/')[2][:14]) }}{%- endmacro -%}


{#- The ids of a field of a Delta or Iceberg schema and of the fields nested in it, by their path.
    Without column mapping a name of Delta's can't stand for another field. -#}
{%- macro _field_ids(field) -%}
    {%- set nested = field.type if field.type is mapping else {} -%}
    {%- set ids = {'': field.get('id') or (field.get('metadata') or {}).get('delta.columnMapping.physicalName') or field.name | lower} -%}
    {%- set parts = nested.get('fields', []) | list -%}
    {%- for name in ['element', 'key', 'value'] if name in nested or name ~ 'Type' in nested -%}
        {%- do parts.append({'name': name, 'id': nested.get(name ~ '-id'), 'type': nested.get(name) or nested[name ~ 'Type']}) -%}
    {%- endfor -%}
    {%- for part in parts -%}
        {%- for path, id in spark_cdc._field_ids(part).items() -%}
            {%- do ids.update({part.name | lower ~ ('.' ~ path if path): id}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(ids) }}
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


{#- The business time to load, if the table, or what its columns are, has changed since it was read:
    now, in UTC.
    Returns a list of it, or an empty one.
    Arguments: entity, now (the table), timeline (manifest that readers see), since (time of the
    last load, or none). -#}
{%- macro _change_feed_due(entity, now, timeline, since) -%}
    {%- set read = (timeline.get('applied') or {}).get('feed') -%}
    {%- set time = spark_cdc._present_time(entity) -%}
    {%- set is_read = read is mapping and read.id == now.id and read.to == now.newest and read.get('log') == spark_cdc._change_feed_log(now) -%}
    {{ return([] if is_read or since is not none and time <= since else [time]) }}
{%- endmacro -%}


{#- The table at this moment.
    Argument: table (name, as SQL).
    Returns a dictionary: problem (why its feed can't be read, and what to do; none), id (that Delta
    gave it), newest (version), at (its time, as text), location. -#}
{%- macro _events_delta_cdf_feed_now(table) -%}
    {#- what Delta says of a version is of no interest here -#}
    {%- set plan = spark_cdc._plan('select 1 from table_changes(' ~ spark_cdc._literal(table) ~ ', 0)') -%}
    {%- set words = spark_cdc._plan_refusal(plan) or '[DELTA_' -%}
    {%- set is_other = not words.startswith('[DELTA_') or words.startswith('[DELTA_TABLE_ONLY') -%}
    {%- set problem = spark_cdc._change_feed_table_problem(table, plan, 'Delta', is_other) -%}
    {%- if problem -%}{{ return({'problem': problem}) }}{%- endif -%}
    {%- set detail = spark_cdc._delta_detail(table) -%}
    {%- if spark_cdc._properties_of(table).get('delta.enableChangeDataFeed', '') | lower != 'true' -%}
        {{ return({'problem': 'the Delta table ' ~ table ~ ' keeps no change feed. Switch it on: alter table ' ~ table
            ~ ' set tblproperties (delta.enableChangeDataFeed = true); a first load takes all its rows, later ones the changes since'}) }}
    {%- endif -%}
    {%- set newest = spark_cdc._delta_history(table, 1)[0] -%}
    {{ return({'id': detail.id, 'newest': newest.version | int, 'at': newest.timestamp | string, 'location': detail.location}) }}
{%- endmacro -%}


{#- Whether the versions of a load can be read, and where they stand in the order of all.
    Arguments: entity (with its feed), now, read (what was read before; none), highest (number that
    was applied before; none).
    Returns a dictionary: problem (none), offset, number. -#}
{%- macro _events_delta_cdf_feed_range(entity, now, read, highest) -%}
    {%- set feed, text = entity.source.feed, spark_cdc._change_feed_text(entity) -%}
    {#- the versions of a table that was made anew begin at 0 again -#}
    {%- set offset = read.offset if read and read.id == now.id else [0, (-1 if highest is none else highest) + 1 - feed.to] | max -%}
    {%- set is_back = feed.after is not none and feed.to < feed.after -%}
    {%- set words = none if is_back or feed.to == feed.after
        else spark_cdc._plan_refusal(spark_cdc._plan('select 1 from ' ~ spark_cdc._events_delta_cdf_rows_sql(feed))) -%}
    {%- set is_whole = words or is_back or feed.after in [none, feed.to] -%}
    {%- set gone = none if is_whole else spark_cdc._events_delta_cdf_gone_file(feed, now.location) -%}
    {%- set problem -%}
{%- if is_back -%}
the newest version of {{ feed.table }} is {{ feed.to }}, but up to {{ feed.after }} has been read
{%- elif words -%}
{{ text }} can't be read: {{ words }}
{%- elif gone -%}
{{ text }} can't be read: of its files one is not there any more, as VACUUM of the table leaves it ({{ gone }})
{%- endif -%}
    {%- endset -%}
    {{ return({'problem': problem or none, 'offset': offset, 'number': feed.to + offset}) }}
{%- endmacro -%}


{#- What a load reads, as SQL. A first load has all rows as inserts of the version that it
    reads. -#}
{%- macro _events_delta_cdf_feed_sql(entity, feed, is_full) -%}
select
    *
    {%- if feed.after is none and not is_full %},
    'insert' as _change_type,
    {{ feed.to }}L as _commit_version,
    timestamp{{ spark_cdc._literal(feed.at) }} as _commit_timestamp
    {%- endif %}
from {{ spark_cdc._events_delta_cdf_rows_sql(feed) }}
{%- endmacro -%}


{%- macro _events_delta_cdf_rows_sql(feed) -%}
{%- if feed.after is none -%}
{{ feed.table }} version as of {{ feed.to }}
{%- else -%}
table_changes({{ spark_cdc._literal(feed.table) }}, {{ feed.after + 1 }}, {{ feed.to }})
{%- endif -%}
{%- endmacro -%}


{#- The schemas that the table has had since the version that was read before, each as Delta has it
    as JSON, the oldest first; only the newest one where all rows are read, or not all declared
    columns are known. Files of the log have them. Where a catalog keeps these to itself, only the
    names of the operations tell.
    Arguments: feed, now, known and is_known (whether all declared columns are) as of
    _change_feed_fields(). Returns a dictionary: schemas, problem (none). -#}
{%- macro _events_delta_cdf_feed_schemas(feed, now, known, is_known) -%}
    {%- set found = [] -%}
    {%- set is_read = feed.after is not none and feed.to > feed.after -%}
    {%- set changed = spark_cdc._events_delta_cdf_schemas_between(now.location, feed.after, feed.to) if is_read else [] -%}
    {%- if changed is none -%}
        {%- for row in spark_cdc._delta_history(feed.table, now.newest - feed.after) if row.version | int <= feed.to -%}
            {%- for word in ['DROP COLUMN', 'RENAME COLUMN', 'REPLACE', 'RESTORE', 'CLONE'] if word in row.operation -%}
                {%- do found.append(row.operation ~ ' in version ' ~ row.version) -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- set problem -%}
columns of {{ feed.table }} may hold values of another field than before, without a row in its change feed: it was changed by {{ found | unique | join(', ') }}, and {# -#}
its log can't be read ({{ now.location }}/_delta_log), which would tell
        {%- endset -%}
        {{ return({'schemas': [], 'problem': problem if found else none}) }}
    {%- endif -%}
    {{ return({'problem': none, 'schemas': changed if changed or is_known else spark_cdc._events_delta_cdf_schema_of(now.location, feed.to)}) }}
{%- endmacro -%}


{#- The schemas in the log after a version (none: all) up to another; none where the log can't be
    read, or lacks one of them. -#}
{%- macro _events_delta_cdf_schemas_between(location, after, to) -%}
    {%- set sql -%}
select
    count(distinct {{ spark_cdc._of_file('name') }}) as versions,
    to_json(array_sort(collect_list(if(
        get_json_object(value, '$.metaData.schemaString') is null,
        null,
        struct({{ spark_cdc._of_file('name') }} as version, get_json_object(value, '$.metaData.schemaString') as told)
    )))) as schemas
from text.`{{ location }}/_delta_log`
where
    {{ spark_cdc._of_file('name') }} rlike '^[0-9]{20}[.]json$'
    and {{ spark_cdc._of_file('name') }} > '{{ '%020d' % after }}.json'
    and {{ spark_cdc._of_file('name') }} <= '{{ '%020d' % to }}.json'
    {%- endset -%}
    {%- if spark_cdc._plan_refusal(spark_cdc._plan(sql)) -%}{{ return(none) }}{%- endif -%}
    {%- set found, schemas = spark_cdc._query(sql) | first, [] -%}
    {%- if found.versions | int < to - after -%}{{ return(none) }}{%- endif -%}
    {%- for one in fromjson(found.schemas) -%}{%- do schemas.append(fromjson(one.told)) -%}{%- endfor -%}
    {{ return(schemas) }}
{%- endmacro -%}


{#- The schema of a version, as a list: it stands in the log since the last checkpoint before, or in
    that. An empty one where it can't be read. -#}
{%- macro _events_delta_cdf_schema_of(location, version) -%}
    {%- set sql -%}
select max(left({{ spark_cdc._of_file('name') }}, 20)) as version
from binaryFile.`{{ location }}/_delta_log`
where {{ spark_cdc._of_file('name') }} rlike '^[0-9]{20}[.]checkpoint' and {{ spark_cdc._of_file('name') }} < '{{ '%020d' % (version + 1) }}'
    {%- endset -%}
    {%- if spark_cdc._plan_refusal(spark_cdc._plan(sql)) -%}{{ return([]) }}{%- endif -%}
    {%- set checkpoint = (spark_cdc._query(sql) | first).version -%}
    {%- set since = spark_cdc._events_delta_cdf_schemas_between(location, -1 if checkpoint is none else checkpoint | int, version) -%}
    {%- if since or checkpoint is none -%}{{ return((since or [])[-1:]) }}{%- endif -%}
    {%- for sql in [
        'select metaData.schemaString as told from parquet.`' ~ location ~ '/_delta_log/' ~ checkpoint ~ '.checkpoint*.parquet`',
        "select get_json_object(value, '$.metaData.schemaString') as told from text.`" ~ location ~ '/_delta_log/' ~ checkpoint ~ '.checkpoint*.json`',
    ] if not spark_cdc._plan_refusal(spark_cdc._plan(sql)) -%}
        {%- for row in spark_cdc._query('select told from (' ~ sql ~ ') where told is not null limit 1') -%}{{ return([fromjson(row.told)]) }}{%- endfor -%}
    {%- endfor -%}
    {{ return([]) }}
{%- endmacro -%}


{#- A file of the oldest changes that is not there any more; none. Spark says so only when it reads
    them, and VACUUM takes the oldest first; so the log is asked for some 50 of them, as far as
    their names are plain. -#}
{%- macro _events_delta_cdf_gone_file(feed, location) -%}
    {%- set log_files = [] -%}
    {%- for version in range(feed.after + 1, [feed.to, feed.after + 100] | min + 1) -%}
        {%- do log_files.append('%020d.json' % version) -%}
    {%- endfor -%}
    {%- set sql -%}
select path
from (
    select
        path,
        version,
        is_change_data,
        max(is_change_data) over (partition by version) as has_change_data
    from (
        select
            regexp_extract({{ spark_cdc._of_file('name') }}, '([0-9]+)[.]json', 1) as version,
            get_json_object(value, '$.cdc.path') is not null as is_change_data,
            coalesce(
                get_json_object(value, '$.cdc.path'),
                if(get_json_object(value, '$.add.dataChange') = 'true', get_json_object(value, '$.add.path'), null),
                if(get_json_object(value, '$.remove.dataChange') = 'true', get_json_object(value, '$.remove.path'), null)
            ) as path
        from text.`{{ location }}/_delta_log/{ {{- log_files | join(',') }}}`
    )
    where path is not null
)
where is_change_data = has_change_data and path rlike '^[A-Za-z0-9_./=-]+$'
order by version
limit 50
    {%- endset -%}
    {#- a catalog may keep the folder to itself -#}
    {%- if spark_cdc._plan_refusal(spark_cdc._plan(sql)) -%}{{ return(none) }}{%- endif -%}
    {%- set reads = [] -%}
    {%- for row in spark_cdc._query(sql) -%}
        {%- do reads.append('select 1 from binaryFile.`' ~ location ~ '/' ~ row.path ~ '`') -%}
    {%- endfor -%}
    {%- set plan = spark_cdc._plan(reads | join(' union all ')) if reads else '' -%}
    {{ return(spark_cdc._plan_missing_path(plan)) }}
{%- endmacro -%}


{#- The table at this moment.
    Argument: table (name, as SQL).
    Returns a dictionary: problem (why its feed can't be read, and what to do; none), id (none:
    snapshots have names that no other table has), newest (snapshot; none while there is none),
    parents (of each snapshot that is there), log (the last 100 commits, snapshots or not, the
    oldest first: {file, snapshot: the newest by then}). -#}
{%- macro _events_iceberg_changelog_feed_now(table) -%}
    {%- set sql -%}
select
    snapshots.snapshot_id,
    snapshots.parent_id,
    refs.name is not null as is_newest
from {{ table }}.snapshots as snapshots
left join {{ table }}.refs as refs
    on snapshots.snapshot_id = refs.snapshot_id and refs.name = 'main'
    {%- endset -%}
    {%- set plan = spark_cdc._plan('select 1 from ' ~ table) -%}
    {%- set is_other = spark_cdc._plan_refusal(spark_cdc._plan(sql)) is not none -%}
    {%- set problem = spark_cdc._change_feed_table_problem(table, plan, 'Iceberg', is_other) -%}
    {%- if problem -%}{{ return({'problem': problem}) }}{%- endif -%}
    {%- set parents, newest = {}, [] -%}
    {%- for row in spark_cdc._query(sql) -%}
        {%- do parents.update({row.snapshot_id | int: none if row.parent_id is none else row.parent_id | int}) -%}
        {%- if row.is_newest -%}{%- do newest.append(row.snapshot_id | int) -%}{%- endif -%}
    {%- endfor -%}
    {%- set log_sql -%}
select
    file,
    latest_snapshot_id as snapshot
from {{ table }}.metadata_log_entries
    {%- endset -%}
    {{ return({'id': none, 'newest': (newest + [none]) | first, 'parents': parents, 'log': spark_cdc._query(log_sql) | list}) }}
{%- endmacro -%}


{#- Whether the snapshots of a load can be read, and where they stand in the order of all. Arguments
    and what it returns as of _events_delta_cdf_feed_range(). -#}
{%- macro _events_iceberg_changelog_feed_range(entity, now, read, highest) -%}
    {%- set feed = entity.source.feed -%}
    {%- set line, former = spark_cdc._snapshot_line(now.parents, feed.to), spark_cdc._snapshot_line(now.parents, feed.after) -%}
    {%- set is_chain = feed.after is none or feed.after in line -%}
    {#- what was rolled back began with the same snapshots -#}
    {%- set is_replaced = not is_chain and feed.after in now.parents and line[-1] in now.parents and not line | select('in', former) | list -%}
    {%- set words = none -%}
    {%- set unordered = [] if entity.key_columns or feed.to is none else spark_cdc._unordered_columns(feed.table) -%}
    {%- if unordered -%}
        {{ return({'problem': 'Iceberg can make no changelog of ' ~ feed.table ~ ' without a key, since values of ' ~ unordered | join(', ')
            ~ ' have no order. Give the key columns the role key'}) }}
    {%- elif is_chain and feed.after is not none and feed.to != feed.after -%}
        {%- do spark_cdc._send(spark_cdc._events_iceberg_changelog_call_sql(entity, feed)) -%}
        {%- set words = spark_cdc._plan_refusal(spark_cdc._plan('select * from ' ~ spark_cdc._events_iceberg_changelog_view(entity))) -%}
    {%- endif -%}
    {%- set problem -%}
{%- if words -%}
{{ spark_cdc._change_feed_text(entity) }} can't be read: {{ words }}
{%- elif feed.to != feed.after and feed.to not in now.parents -%}
snapshot {{ feed.to }} of {{ feed.table }} is not there any more, as expire_snapshots of the table leaves it
{%- elif is_replaced -%}
{{ feed.table }} was replaced as a whole since snapshot {{ feed.after }} was read (`create or replace table`, as dbt's table {# -#}
materialization runs it each time), so that it has no changes since. Read a table that is written by changes, such as one of dbt's incremental models; {# -#}
or load this one as full snapshots (load_type: full; docs/source_feeds.md)
{%- elif not is_chain and feed.after in now.parents -%}
snapshot {{ feed.to }} of {{ feed.table }} does not follow on {{ feed.after }}, up to which has been read: the table was rolled back
{%- elif not is_chain -%}
the snapshots of {{ feed.table }} from {{ feed.after }}, up to which has been read, to {{ feed.to }} are not all there any more: {# -#}
they were expired, or {# -#}
the table was rolled back, or dropped and made anew
{%- endif -%}
    {%- endset -%}
    {#- a changelog counts from 0 -#}
    {%- set offset = 0 if highest is none else highest + 1 -%}
    {{ return({'problem': problem or none, 'offset': offset, 'number': offset}) }}
{%- endmacro -%}


{#- The schema that a load reads with, as Iceberg has it as JSON: a snapshot's own, where all rows
    of it are read, else the table's. The table's metadata has it. Where that can't be read, only
    commits without a snapshot tell that columns may have changed.
    Arguments and what it returns as of _events_delta_cdf_feed_schemas(). -#}
{%- macro _events_iceberg_changelog_feed_schemas(feed, now, known, is_known) -%}
    {%- set place = 'text.`' ~ (now.log | last).file | replace('`', '``') ~ '`' -%}
    {%- set sql -%}
select
    coalesce(get_json_object(value, '$.schemas'), concat('[', get_json_object(value, '$.schema'), ']')) as schemas,
    {%- if feed.after is none and feed.to is not none and not feed.is_now %}
    filter(
        from_json(get_json_object(value, '$.snapshots'), 'array<struct<`snapshot-id`: bigint, `schema-id`: int>>'),
        snapshot -> snapshot.`snapshot-id` = {{ feed.to }}
    )[0].`schema-id` as schema_id
    {%- else %}
    get_json_object(value, '$.current-schema-id') as schema_id
    {%- endif %}
from {{ place }}
where get_json_object(value, '$.format-version') is not null
    {%- endset -%}
    {%- set is_there = spark_cdc._plan_refusal(spark_cdc._plan(sql)) is none -%}
    {%- for row in (spark_cdc._query(sql) if is_there else []) -%}
        {%- set schemas = fromjson(row.schemas) -%}
        {%- for schema in schemas if schemas | length == 1 or row.schema_id is not none and schema['schema-id'] == row.schema_id | int -%}
            {{ return({'problem': none, 'schemas': [schema]}) }}
        {%- endfor -%}
    {%- endfor -%}
    {#- each commit of the table is in its log, of which a few are kept -#}
    {%- set commits, at = [], namespace(is_after=false) -%}
    {%- for commit in now.log -%}
        {%- do commits.append(commit.file) if at.is_after and commit.snapshot == loop.previtem.snapshot -%}
        {%- set at.is_after = at.is_after or spark_cdc._short_file_name(commit.file) == known.get('log') -%}
    {%- endfor -%}
    {%- set why -%}
{%- if commits -%}
it was changed without a snapshot ({{ commits | join(', ') }})
{%- elif not at.is_after -%}
it has had more commits since the last load than it keeps a log of (write.metadata.previous-versions-max)
{%- endif -%}
    {%- endset -%}
    {%- set problem -%}
columns of {{ feed.table }} may hold values of another field than before, without a row in its changelog: {{ why }}, and Spark can't read {# -#}
{{ (now.log | last).file }} as text, which would tell
    {%- endset -%}
    {{ return({'schemas': [], 'problem': problem if why and known else none}) }}
{%- endmacro -%}


{#- A snapshot and those that it goes back to, as far as they are known. -#}
{%- macro _snapshot_line(parents, snapshot) -%}
    {%- set line = [snapshot] -%}
    {%- for _ in parents -%}
        {%- do line.append(parents[line[-1]]) if parents.get(line[-1]) is not none -%}
    {%- endfor -%}
    {{ return(line) }}
{%- endmacro -%}


{#- What a load reads, as SQL. Iceberg makes a temporary view of the session for it. A first load
    has all rows as inserts of the snapshot that it reads. -#}
{%- macro _events_iceberg_changelog_feed_sql(entity, feed, is_full) -%}
{%- if feed.after is not none -%}
    {%- do spark_cdc._send(spark_cdc._events_iceberg_changelog_call_sql(entity, feed)) -%}
select *
from {{ spark_cdc._events_iceberg_changelog_view(entity) }}
{%- else -%}
select
    *
    {%- if not is_full %},
    'INSERT' as _change_type,
    0 as _change_ordinal,
    {{ feed.to }}L as _commit_snapshot_id
    {%- endif %}
from {{ feed.table }}{{ ' version as of ' ~ feed.to if not feed.is_now }}
    {%- if feed.is_now %}
where if(
    (select snapshot_id from {{ feed.table }}.refs where name = 'main') = {{ feed.to }},
    true,
    raise_error('the table was written to while the load read all its rows: run the same command again')
)
    {%- endif %}
{%- endif -%}
{%- endmacro -%}


{%- macro _events_iceberg_changelog_view(entity) -%}{{ return('changelog_' ~ entity.name) }}{%- endmacro -%}


{%- macro _events_iceberg_changelog_call_sql(entity, feed) -%}
{%- set parts = spark_cdc._split_outside(feed.table, '.') -%}
{%- set catalog = parts[0] if parts | length > 2 else spark_cdc._quote(spark_cdc._server().catalog) -%}
{%- set keys = [] -%}
{%- for key in entity.key_columns -%}{%- do keys.append(spark_cdc._literal(key.from)) -%}{%- endfor -%}
call {{ catalog }}.system.create_changelog_view(
    table => {{ spark_cdc._literal(parts[-2:] | join('.')) }},
    changelog_view => '{{ spark_cdc._events_iceberg_changelog_view(entity) }}',
    options => map('start-snapshot-id', '{{ feed.after }}', 'end-snapshot-id', '{{ feed.to }}'),
    {#- rows that were only copied are found by sorting all columns, and maps have no order -#}
    {%- if spark_cdc._unordered_columns(feed.table) %}
    identifier_columns => array({{ keys | join(', ') }}),
    {%- endif %}
    net_changes => false
)
{%- endmacro -%}


{#- The columns of a table that can't be sorted. -#}
{%- macro _unordered_columns(table) -%}
    {%- set unordered = [] -%}
    {%- for column in spark_cdc._describe_query('select * from ' ~ table) -%}
        {%- do unordered.append(column.col_name) if 'map<' in column.data_type or 'variant' in column.data_type -%}
    {%- endfor -%}
    {{ return(unordered) }}
{%- endmacro -%}
