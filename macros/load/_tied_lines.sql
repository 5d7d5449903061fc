{#- Events of which several, different ones, have one position: all of them as they were read, for a message. Returns a list of texts. -#}
{%- macro _tied_lines(run, record) -%}
    {%- set entity, load = spark_cdc._entity_of_change_feed(run.entity, record.get('feed')), run.load -%}
    {%- set events = spark_cdc._events_of_load(entity, run.events, load) -%}
    {%- if record.get('read_again') -%}
        {%- do spark_cdc._land_load(entity, spark_cdc._landing_source(entity), run.time) -%}
        {%- do spark_cdc._set_for_staging() -%}
        {%- do spark_cdc._create_read_again_view(entity, is_accepted=true) -%}
        {%- set events = spark_cdc._read_again_view(entity) -%}
    {%- endif -%}
    {%- set sql -%}
select
    cast(events.event_position as string) as place,
    left(array_join(sort_array(collect_set(to_json(struct(
        events.event_op as operation
        {%- for column in entity.stored %}, events.{{ column.sql }}{% endfor %}
    )))), '\n      '), 1000) as shown
from {{ events }} as events
inner join (
    select distinct
        key_hash,
        event_position
    from {{ run.ledger }}
    where load_id = '{{ load.load_id }}' and operation = 'R' and get_json_object(note, '$.kind') = 'tied_events'
    limit 3
) as tied
    on events.key_hash = tied.key_hash and events.event_position = tied.event_position
group by events.key_hash, events.event_position
    {%- endset -%}
    {%- set lines = [] -%}
    {%- if entity.sensitive -%}{{ return(spark_cdc._reject_lines(entity, run.ledger, load, ['tied_events'])) }}{%- endif -%}
    {%- for tied in spark_cdc._query(sql) -%}
        {%- do lines.append('different events of one key have the position ' ~ tied.place ~ ': ' ~ spark_cdc._tie_advice(entity) ~ '\n      ' ~ tied.shown) -%}
    {%- endfor -%}
    {#- what is not there under its own key any more, after a change of keys, is shown as the ledger has it -#}
    {{ return(lines or spark_cdc._reject_lines(run.entity, run.ledger, load, ['tied_events'])) }}
{%- endmacro -%}
