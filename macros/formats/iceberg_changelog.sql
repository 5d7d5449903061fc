{#- Change-event format `iceberg_changelog`: rows of the view that Iceberg's procedure
    create_changelog_view makes. Its ordinals count from the view's first snapshot, so either all
    views begin at the same one, or columns under events.order come first. -#}
{%- macro _events_iceberg_changelog(entity, typed) -%}
{%- set change_type = spark_cdc._named_column(entity, '_change_type') -%}
{%- set ordinal = spark_cdc._named_column(entity, '_change_ordinal') -%}
{%- set codes = {'INSERT': 'insert', 'DELETE': 'delete', 'UPDATE_BEFORE': 'delete', 'UPDATE_AFTER': 'update'} -%}
select
    *,
    {{ spark_cdc._coded_operation(change_type.sql, codes) | indent(4) }} as event_op,
    array(
        {{ spark_cdc._order_parts(entity.events.order + [ordinal]) | join(',\n        ') }}{{ spark_cdc._change_feed_offset(entity) }},
        if({{ change_type.sql }} in ('DELETE', 'UPDATE_BEFORE'), 0L, 1L)
    ) as event_position,
    cast({{ spark_cdc._named_column(entity, '_commit_snapshot_id').sql }} as string) as event_transaction,
    {{ spark_cdc._event_instant(entity, spark_cdc._named_column(entity, entity.events.get('time'))) }} as event_time,
    {{ spark_cdc._coded_operation_problem(change_type.name, change_type.sql, codes) | indent(4) }} as event_problem,
    cast(null as map<string, string>) as event_before
from {{ typed }}
{%- endmacro -%}


{%- macro _events_iceberg_changelog_columns(entity) -%}
    {{ return([
        {'name': '_change_type', 'data_type': 'string', 'required': true},
        {'name': '_change_ordinal', 'data_type': 'int', 'required': true},
        {'name': '_commit_snapshot_id', 'data_type': 'bigint', 'required': true},
    ]) }}
{%- endmacro -%}


{%- macro _events_iceberg_changelog_format() -%}
    {{ return({'settings': {'time': none}, 'feed': 'snapshot'}) }}
{%- endmacro -%}


{%- macro _events_iceberg_changelog_problems(entity) -%}
    {{ return(
        spark_cdc._order_type_problems('the format', [spark_cdc._named_column(entity, '_change_ordinal')])
        + spark_cdc._order_type_problems('events.order', entity.events.order)
        + spark_cdc._adapter_column_problems(entity, ['time'], 'time')
    ) }}
{%- endmacro -%}


{#- The changelog of an Iceberg table, read from the table itself: see macros/source/tables.sql. -#}


{#- The table at this moment.
    Argument: table (name, as SQL).
    Returns a dictionary: problem (why its feed can't be read, and what to do; none), id (none:
    snapshots have names that no other table has), newest (snapshot; none while there is none),
    parents (of each snapshot that is there). -#}
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
    {%- set problem = spark_cdc._change_feed_table_problem(table, plan, 'Iceberg', spark_cdc._plan_refusal(spark_cdc._plan(sql)) is not none) -%}
    {%- if problem -%}{{ return({'problem': problem}) }}{%- endif -%}
    {%- set parents, newest = {}, [] -%}
    {%- for row in spark_cdc._query(sql) -%}
        {%- do parents.update({row.snapshot_id | int: none if row.parent_id is none else row.parent_id | int}) -%}
        {%- if row.is_newest -%}{%- do newest.append(row.snapshot_id | int) -%}{%- endif -%}
    {%- endfor -%}
    {{ return({'id': none, 'newest': newest | first | default(none), 'parents': parents}) }}
{%- endmacro -%}


{#- Whether the snapshots of a load can be read, and where they stand in the order of all. Arguments
    and what it returns as of _events_delta_cdf_feed_range(). -#}
{%- macro _events_iceberg_changelog_feed_range(entity, now, read, highest) -%}
    {%- set feed = entity.source.feed -%}
    {%- set at = namespace(snapshot=feed.to) -%}
    {%- for _ in now.parents if at.snapshot != feed.after and at.snapshot in now.parents -%}
        {%- set at.snapshot = now.parents[at.snapshot] -%}
    {%- endfor -%}
    {%- set is_chain = feed.after is none or at.snapshot == feed.after -%}
    {%- set words = none -%}
    {%- if is_chain and feed.after is not none and feed.to != feed.after -%}
        {%- do spark_cdc._send(spark_cdc._events_iceberg_changelog_call_sql(entity, feed)) -%}
        {%- set words = spark_cdc._plan_refusal(spark_cdc._plan('select * from ' ~ spark_cdc._events_iceberg_changelog_view(entity))) -%}
    {%- endif -%}
    {%- set problem -%}
{%- if words -%}
{{ spark_cdc._change_feed_text(entity) }} can't be read: {{ words }}
{%- elif feed.to != feed.after and feed.to not in now.parents -%}
snapshot {{ feed.to }} of {{ feed.table }} is not there any more, as expire_snapshots of the table leaves it
{%- elif not is_chain and feed.after in now.parents -%}
snapshot {{ feed.to }} of {{ feed.table }} does not follow on {{ feed.after }}, up to which has been read: the table was rolled back
{%- elif not is_chain -%}
the snapshots of {{ feed.table }} from {{ feed.after }}, up to which has been read, to {{ feed.to }} are not all there any more: they were expired, or {# -#}
the table was rolled back, or dropped and made anew
{%- endif -%}
    {%- endset -%}
    {#- a changelog counts from 0 -#}
    {%- set offset = 0 if highest is none else highest + 1 -%}
    {{ return({'problem': problem or none, 'offset': offset, 'number': offset}) }}
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
from {{ feed.table }} version as of {{ feed.to }}
{%- endif -%}
{%- endmacro -%}


{%- macro _events_iceberg_changelog_view(entity) -%}{{ return('changelog_' ~ entity.name) }}{%- endmacro -%}


{%- macro _events_iceberg_changelog_call_sql(entity, feed) -%}
{%- set parts = spark_cdc._split_outside(feed.table, '.') -%}
{%- set catalog = parts[0] if parts | length > 2 else spark_cdc._quote(spark_cdc._query('select current_catalog() as name')[0].name) -%}
call {{ catalog }}.system.create_changelog_view(
    table => {{ spark_cdc._literal(parts[-2:] | join('.')) }},
    changelog_view => '{{ spark_cdc._events_iceberg_changelog_view(entity) }}',
    options => map('start-snapshot-id', '{{ feed.after }}', 'end-snapshot-id', '{{ feed.to }}'),
    net_changes => false
)
{%- endmacro -%}
