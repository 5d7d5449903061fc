{#- Change-event format `delta_cdf`: rows of Delta Lake's Change Data Feed, as table_changes() and
    readChangeFeed give them. -#}
{%- macro _events_delta_cdf(entity, typed) -%}
{%- set change_type = spark_cdc._named_column(entity, '_change_type') -%}
{%- set version = spark_cdc._named_column(entity, '_commit_version') -%}
{%- set codes = {'insert': 'insert', 'delete': 'delete', 'update_preimage': 'delete', 'update_postimage': 'update'} -%}
select
    *,
    {{ spark_cdc._coded_operation(change_type.sql, codes) | indent(4) }} as event_op,
    array(
        {{ spark_cdc._order_parts([version]) | join(', ') }}{{ spark_cdc._change_feed_offset(entity) }},
        if({{ change_type.sql }} in ('delete', 'update_preimage'), 0L, 1L)
    ) as event_position,
    cast({{ version.sql }} as string) as event_transaction,
    {{ spark_cdc._event_instant(entity, spark_cdc._named_column(entity, '_commit_timestamp')) }} as event_time,
    {{ spark_cdc._coded_operation_problem(change_type.name, change_type.sql, codes) | indent(4) }} as event_problem,
    cast(null as map<string, string>) as event_before
from {{ typed }}
{%- endmacro -%}


{%- macro _events_delta_cdf_columns(entity) -%}
    {{ return([
        {'name': '_change_type', 'data_type': 'string', 'required': true},
        {'name': '_commit_version', 'data_type': 'bigint', 'required': true},
        {'name': '_commit_timestamp', 'data_type': 'timestamp', 'required': false},
    ]) }}
{%- endmacro -%}


{%- macro _events_delta_cdf_format() -%}
    {{ return({'has_order': true, 'feed': 'version'}) }}
{%- endmacro -%}


{%- macro _events_delta_cdf_problems(entity) -%}
    {{ return(spark_cdc._order_type_problems('the format', [spark_cdc._named_column(entity, '_commit_version')])) }}
{%- endmacro -%}


{#- The Change Data Feed of a Delta table, read from the table itself: see
    macros/source/tables.sql. -#}


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
    {%- set detail = spark_cdc._query('describe detail ' ~ table) | first -%}
    {%- set switch = spark_cdc._query('show tblproperties ' ~ table ~ " ('delta.enableChangeDataFeed')") | first -%}
    {%- if switch.value | lower != 'true' -%}
        {{ return({'problem': 'the Delta table ' ~ table ~ ' keeps no change feed. Switch it on: alter table ' ~ table
            ~ ' set tblproperties (delta.enableChangeDataFeed = true); a first load takes all its rows, later ones the changes since'}) }}
    {%- endif -%}
    {%- set newest = spark_cdc._query('describe history ' ~ table ~ ' limit 1') | first -%}
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
    {%- set gone = none if words or is_back or feed.after in [none, feed.to] else spark_cdc._events_delta_cdf_gone_file(feed, now.location) -%}
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


{#- A file of the oldest changes that is not there any more; none. Spark says so only when it reads
    them, and VACUUM takes the oldest first; so the log is asked for some 50 of them, as far as
    their names are plain. -#}
{%- macro _events_delta_cdf_gone_file(feed, location) -%}
    {%- set log_files = [] -%}
    {%- for version in range(feed.after + 1, [feed.to, feed.after + 100] | min + 1) -%}{%- do log_files.append('%020d.json' % version) -%}{%- endfor -%}
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
            regexp_extract(input_file_name(), '([0-9]+)[.]json', 1) as version,
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
    {%- if spark_cdc._plan_refusal(spark_cdc._plan(sql)) -%}{{ return(none) }}{%- endif -%}  {#- a catalog that keeps the folder to itself -#}
    {%- set reads = [] -%}
    {%- for row in spark_cdc._query(sql) -%}{%- do reads.append('select 1 from binaryFile.`' ~ location ~ '/' ~ row.path ~ '`') -%}{%- endfor -%}
    {%- set plan = spark_cdc._plan(reads | join(' union all ')) if reads else '' -%}
    {{ return(spark_cdc._plan_missing_path(plan)) }}
{%- endmacro -%}
