{#- The change events of a format whose rows are images of rows of the source, as a query: all
    columns as they came, and what each row says that happened.
    Arguments: entity, typed (as the macro of a format gets them), format (what is its own, as
    docs/events.md describes it). -#}
{%- macro row_events(entity, typed, format) -%}
{%- set events, codes = entity.events, format.get('codes', {}) -%}
{%- set operation = spark_cdc._named_column(entity, format.get('operation')) -%}
{%- set transaction = spark_cdc._event_text(entity, spark_cdc._named_column(entity, events.get('transaction'))) -%}
{%- set time = spark_cdc._event_instant(entity, spark_cdc._named_column(entity, format.get('time', events.get('time')))) -%}
{%- set columns = {
    'event_op': format.get('event_op'),
    'event_transaction': format.get('transaction', transaction),
    'event_time': format.get('event_time', time),
} -%}
{%- do columns.update(format.get('opened', {})) -%}
{%- set problems = [] -%}
{%- if operation -%}
    {%- set event_op -%}
case coalesce(cast({{ operation.sql }} as string), '')
    {%- for code, meant in codes.items() %}
    when {{ spark_cdc._literal(code) }} then {{ spark_cdc._literal(meant) }}
    {%- endfor %}
end
    {%- endset -%}
    {%- do columns.update({'event_op': event_op}) -%}
    {%- set shown = format.get('shown', operation.sql) -%}
    {%- set accepted = ' in ' ~ format.operation ~ '; accepted are ' ~ codes | map('default', 'nothing', true) | join(', ') -%}
    {%- set unknown -%}
if(
    coalesce(cast({{ shown }} as string), '') in ({{ spark_cdc._literals(codes) }}), null,
    concat('unknown operation ', coalesce({{ spark_cdc._shown(shown) }}, 'null'), {{ spark_cdc._literal(accepted) }})
)
    {%- endset -%}
    {%- do problems.append(unknown) -%}
{%- endif -%}
{%- set position = format.get('position', []) + (["if(event_op = 'delete', 0L, 1L)"] if format.get('halves') else []) -%}
with opened as (
    select
        *
        {%- for name, sql in columns.items() %},
        {{ sql | indent(8) }} as {{ name }}
        {%- endfor %}
    from {{ typed }}
)

select
    *,
    {%- if position %}
    {{ 'if(' ~ format.unplaced ~ ', null, ' if 'unplaced' in format }}array(
        {{ position | join(',\n') | indent(8) }}
    ){{ ')' if 'unplaced' in format }} as event_position,
    {%- endif %}
    {%- if 'table' in format %}
    {{ spark_cdc._event_origin(format.table, format.get('log')) | indent(4) }} as event_origin,
    {%- endif %}
    coalesce(
        {{ (problems + format.get('problems', []) or ['cast(null as string)']) | join(',\n') | indent(8) }}
    ) as event_problem,
    {{ spark_cdc._old_key_map(entity) | indent(4) }} as event_before
from opened
{%- endmacro -%}


{#- A typed column as the time at which an event happened: an instant, whatever the session's time
    zone. What names no zone is in the entity's.
    Arguments: entity, column (dictionary, or none). Returns an expression. -#}
{%- macro _event_instant(entity, column) -%}
{%- if column is none -%}
cast(null as timestamp)
{%- elif column.data_type == 'timestamp' -%}
{{ column.sql }}
{%- elif column.data_type == 'string' -%}
{{ spark_cdc._cast_instant(column.sql, none, entity.timezone) }}
{%- else -%}
{#- a date or a timestamp_ntz as the instant when a clock in UTC shows it -#}
{%- set clock -%}
timestamp_micros({{ spark_cdc._order_parts([column])[0] }}{{ ' * 86400000000' if column.data_type == 'date' }})
{%- endset -%}
{{ clock if entity.timezone == 'UTC' else 'to_utc_timestamp(%s, %s)' | format(clock, spark_cdc._literal(entity.timezone)) }}
{%- endif -%}
{%- endmacro -%}


{#- The key as it was before, of the setting old_key: a mapping of key column to the column with its
    old value. A part whose old value is null has not changed. Returns an expression of type
    map<string, string>: null where no old value is there. -#}
{%- macro _old_key_map(entity) -%}
{%- set old_texts = {} -%}
{%- for key in entity.key_columns -%}
    {%- for name, old in (entity.events.get('old_key') or {}).items() if name | lower == key.name | lower -%}
        {%- set text = spark_cdc._event_text(entity, spark_cdc._named_column(entity, old)) -%}
        {#- an empty field is null for every type but text -#}
        {%- do old_texts.update({key.name: text if key.data_type == 'string' else 'nullif(' ~ text ~ ", '')"}) -%}
    {%- endfor -%}
{%- endfor -%}
{%- if not old_texts -%}
cast(null as map<string, string>)
{%- else -%}
if(
    {{ old_texts.values() | join(' is null and ') }} is null, null,
    map(
        {%- for key in entity.key_columns -%}
        {%- set new = spark_cdc._event_text(entity, key) -%}
        {{ spark_cdc._literal(key.from) }}, {# -#}
        {{ 'coalesce(' ~ old_texts[key.name] ~ ', ' ~ new ~ ')' if key.name in old_texts else new }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    )
)
{%- endif -%}
{%- endmacro -%}


{#- A full snapshot as change events, in a run that takes one into an entity of events: behind all
    that has its position the table is emptied, and each of its rows inserted. So a row that was
    there before is updated or unchanged, one that the snapshot lacks is deleted, and what is later
    than the snapshot stays. -#}
{%- macro _events_full_snapshot(entity, typed) -%}
{%- set position = spark_cdc._full_snapshot_position(entity) -%}
{%- for operation, rows in {
    'insert': typed,
    'truncate': '(select 1 as one) as once\nleft join (select * from ' ~ typed ~ ' where false) as nothing\n    on true',
}.items() %}
{{- '\n\nunion all\n\n' if not loop.first -}}
select
    {{ '*' if loop.first else 'nothing.*' }},
    '{{ operation }}' as event_op,
    array({{ position }}, {{ '9223372036854775807L' if loop.first else '9223372036854775806L' }}) as event_position,
    cast(null as string) as event_transaction,
    cast(null as timestamp) as event_time,
    cast(null as string) as event_problem,
    cast(null as map<string, string>) as event_before
from {{ rows }}
{%- endfor -%}
{%- endmacro -%}


{#- The rows have columns of their own, and no technical ones. -#}
{%- macro _events_full_snapshot_format() -%}{{ return({'shape': 'rows'}) }}{%- endmacro -%}


{#- The position as expressions of numbers, as _event_position() has them. -#}
{%- macro _full_snapshot_position(entity) -%}
    {%- set position = entity.events.snapshot -%}
    {#- validate() has refused a run without one; dbt compile has none -#}
    {%- if position is none -%}{{ return('0L') }}
    {%- elif 'numbers' in position -%}{{ return(position.numbers | join('L, ') ~ 'L') }}
    {%- endif -%}
    {%- set text = spark_cdc._literal(position.time | string) -%}
    {%- set cast = 'cast(' ~ text ~ ' as ' ~ position.type ~ ')' -%}
    {%- set sql = spark_cdc._cast_instant(text, none, entity.timezone) if position.type == 'timestamp' else cast -%}
    {{ return(spark_cdc._order_parts([{'data_type': position.type, 'sql': sql}])[0]) }}
{%- endmacro -%}
