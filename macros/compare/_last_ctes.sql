{#- What _resolve_ctes() does, of events that are whole rows under keys that stay, each at a place of its own that is one number: the highest place of
    each key is found among narrow columns and sent to the events, so that no row is shuffled but those that end a key, and none is hashed.
    Here `last`, a narrow row per key; _last_ctes_resolved() has `resolved`, as of _resolve_ctes(). -#}
{%- macro _last_ctes(entity, events) -%}
{%- set keys = entity.key_columns | map(attribute='sql') | list -%}
last as (
    select
        {{ keys | join(',\n        ') }},
        step__place,
        array(1L, step__place) as event_position,
        {{ spark_cdc._hash(entity.key_columns) | indent(8) }} as key_hash
    from (
        select
            {{ keys | join(',\n            ') }},
            max(step__place) as step__place
        from {{ events }}
        where event_op <> 'control'
        group by {{ keys | join(', ') }}
    ) as places
)
{%- endmacro -%}


{%- macro _last_ctes_resolved(entity, events) -%}
resolved as (
    select /*+ broadcast(last) */
        last.key_hash,
        last.event_position,
        incoming.event_op <> 'delete' as step__is_alive,
        false as step__is_conflict,
        {%- for column in entity.stored %}
        incoming.{{ column.sql }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ events }} as incoming
    inner join last
        on
            incoming.step__place = last.step__place
            {%- for column in entity.key_columns %}
            and incoming.{{ column.sql }} = last.{{ column.sql }}
            {%- endfor %}
)
{%- endmacro -%}
