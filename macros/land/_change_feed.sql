{#- Entities whose source is the change feed of a Delta or Iceberg table itself. What of it a load reads is decided when it lands (_run_with_change_feed())
    and stands in the load's record as `feed`; from there on it is a part of the entity's source:
        table   the name of the table, as SQL
        id      what tells it from another table of that name; none where that is not known
        after   up to where the feed has been read before: a version or a snapshot; none: all rows of the table are read
        to      up to where it is read now; none while the table has no snapshot
        at      when that came, as text; none where that is not known
        offset  what is added to the numbers that the feed counts in, so that positions rise over all loads
        number  the place of all rows in that order, where all rows of the table are read. -#}


{#- The name of the table: what the YAML says, else the dbt source that stage() names. -#}
{%- macro _change_feed_table(entity) -%}
    {%- set parts = [] -%}
    {%- for part in (entity.source.table or '').split('.') if part -%}{%- do parts.append(spark_cdc._quote(part)) -%}{%- endfor -%}
    {{ return(parts | join('.') or spark_cdc._landing_source(entity) | string) }}
{%- endmacro -%}


{#- The entity with what a load reads of the feed. A full snapshot among events has the place of the version that it is. -#}
{%- macro _entity_of_change_feed(entity, feed) -%}
    {%- if not feed -%}{{ return(entity) }}{%- endif -%}
    {%- set read = dict(entity, source=dict(entity.source, feed=feed)) -%}
    {%- if entity.events.format != 'full_snapshot' -%}{{ return(read) }}{%- endif -%}
    {{ return(dict(read, events=dict(entity.events, snapshot={'numbers': [feed.number]}))) }}
{%- endmacro -%}


{#- The macro events_<format>_feed_<what> of the format that the entity's YAML names. -#}
{%- macro _change_feed_adapter(entity, what) -%}
    {{ return(spark_cdc._adapter(spark_cdc._change_feed_format(entity), '_feed_' ~ what)) }}
{%- endmacro -%}


{%- macro _change_feed_format(entity) -%}{{ return(entity.events.get('declared', entity.events).format) }}{%- endmacro -%}


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


{#- What a load reads, as SQL. -#}
{%- macro _change_feed_sql(entity) -%}
{{ spark_cdc._change_feed_adapter(entity, 'sql')(entity, entity.source.feed, entity.events.format == 'full_snapshot') }}
{%- endmacro -%}


{#- The same in words. -#}
{%- macro _change_feed_text(entity) -%}
    {%- set feed = entity.source.get('feed') -%}
    {%- set unit = spark_cdc._adapter_format(spark_cdc._change_feed_format(entity)).feed -%}
    {%- if not feed -%}
        {{ return('the change feed of ' ~ spark_cdc._change_feed_table(entity)) }}
    {%- elif spark_cdc._is_change_feed_empty(entity) -%}
        {{ return('no ' ~ unit ~ ' of ' ~ feed.table ~ (' after ' ~ feed.after if feed.after is not none)) }}
    {%- elif feed.after is none -%}
        {{ return('all rows of ' ~ feed.table ~ ' as of ' ~ unit ~ ' ' ~ feed.to) }}
    {%- endif -%}
    {{ return('changes of ' ~ feed.table ~ ' after ' ~ unit ~ ' ' ~ feed.after ~ ' up to ' ~ feed.to) }}
{%- endmacro -%}


{#- Why the feed of a table can't be looked at; none if it can. Arguments: table, plan (of a query of it), product (whose table it has to be), is_other (whether
    it is none, or the server knows no such tables). -#}
{%- macro _change_feed_table_problem(table, plan, product, is_other) -%}
    {%- set words = spark_cdc._plan_refusal(plan) or '' -%}
    {%- if spark_cdc._plan_lacks_relation(words) and 'DATA_SOURCE_NOT_FOUND' not in words -%}
        {{ return('the table ' ~ table ~ ' is not there (' ~ words ~ '). Correct source.table') }}
    {%- elif is_other -%}
        {{ return(table ~ ' can not be read as a table of ' ~ product ~ ': it is one of another format, or the server lacks ' ~ product
            ~ (' (' ~ words ~ ')' if words) ~ '. Name a table of ' ~ product ~ ', and give the server what it takes (docs/source_feeds.md)') }}
    {%- endif -%}
    {{ return(none) }}
{%- endmacro -%}


{#- The business time that is due where the table has gone on since it was read: now, in UTC; a list of it, or an empty one. Arguments: entity, now (the table), head
    (manifest that readers see), since (time of the last load; none). -#}
{%- macro _change_feed_due(entity, now, head, since) -%}
    {%- set read = (head.get('applied') or {}).get('feed') -%}
    {%- set time = spark_cdc._business_time(spark_cdc._time_now('%Y-%m-%d' if entity.eff_type == 'date' else '%Y-%m-%d %H:%M:%S')) -%}
    {%- set is_read = read is mapping and read.id == now.id and read.to == now.newest -%}
    {{ return([] if is_read or since is not none and time <= since else [time]) }}
{%- endmacro -%}
