{#- What a load reads of its table's change feed: from where the load before it ended, up to the newest version, or where the load that it takes the place
    of ended, so that a rerun and a replay read the same. A first load, and a full snapshot, read all rows of the table as of that version.
    Refuses the load where that can't be read without a gap. Returns a dictionary: see _entity_of_change_feed(). -#}
{%- macro _change_feed_of_load(run) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- set table, read = spark_cdc._change_feed_table(entity), load.applied.get('feed') -%}
    {%- set now = spark_cdc._change_feed_adapter(entity, 'now')(table) -%}
    {%- if now.get('problem') -%}{%- do spark_cdc._refuse_change_feed(run, now.problem) -%}{%- endif -%}
    {%- set is_full = entity.load_type == 'full' -%}
    {%- set is_rerun = not spark_cdc._is_wiped(entity.name) and load.load_type in spark_cdc._load_types_of_names(load.replaced) -%}
    {%- set replaced = spark_cdc._change_feed_of_replaced(run) if is_rerun else none -%}
    {%- set replaced = none if is_full and replaced and replaced.id != now.id else replaced -%}
    {%- set after = none if is_full else (read or {}).get('to') -%}
    {%- set until = replaced or {'to': now.newest, 'at': now.get('at')} -%}
    {%- set feed = {'table': table, 'id': now.id, 'after': after, 'to': until.to, 'at': until.at} -%}
    {%- set gaps = spark_cdc._broken({'table': table, 'time': load.business_time, 'parent': load.parent}, [
        (not replaced and spark_cdc._loads_with(run.manifest.get('head_loads', []), 'time', 'ge', run.time) | length > 0,
         'it is not known up to where %(time)s read the change feed of %(table)s: it was loaded from another source, or never'),
        (not is_full and load.parent and not read,
         'the load before, %(parent)s, did not read the change feed of %(table)s, so it is not known where to begin'),
        (after is not none and read.id != now.id or replaced and replaced.id != now.id,
         '%(table)s is not the table that was read before: it was dropped and made anew, or source.table has changed'),
    ]) -%}
    {%- if gaps -%}{%- do spark_cdc._refuse_change_feed(run, gaps[0], is_gap=true) -%}{%- endif -%}
    {%- set found = spark_cdc._change_feed_adapter(entity, 'range')(
        dict(entity, source=dict(entity.source, feed=feed)), now, read, (load.applied.get('highest') or [none, none])[1]) -%}
    {%- if found.problem -%}{%- do spark_cdc._refuse_change_feed(run, found.problem, is_gap=true) -%}{%- endif -%}
    {{ return(dict(feed, offset=found.offset, number=found.number)) }}
{%- endmacro -%}


{#- Refuses a load that can't read a change feed. Arguments: run, problem (what was found; and what to do, unless is_gap), is_gap (whether the table itself can be
    read, so that a full snapshot of it leads on). -#}
{%- macro _refuse_change_feed(run, problem, is_gap=false) -%}
    {%- set name, time = run.entity.name, run.load.business_time -%}
    {%- set message -%}
{{ name }}: {{ problem }}. Nothing was written, and readers see what they saw before.
{%- if is_gap and 'replay' in run.manifest %} Replay from a later date, or drop the draft: spark-cdc replay --discard --select {{ name }}.
{%- elif is_gap %} To go on, take all rows of the table as they are now, a full snapshot from which later loads read on (docs/source_feeds.md): {# -#}
spark-cdc load {{ '"' ~ time ~ '"' if ' ' in time else time }} --select {{ name }} --load-type full. With dbt alone: {# -#}
{{ spark_cdc._load_command(run.entity, time, more={'spark_cdc_load_type': '{' ~ name ~ ': full}'}) }}.
{%- endif -%}
    {%- endset -%}
    {%- do spark_cdc._refuse_load(run.entity, 'change_feed', message, run.load) -%}
{%- endmacro -%}
