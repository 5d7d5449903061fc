{#- Events that name a row by another unique key, given the key that bore that name just before: from the state
    before the load and from earlier events of it. A row that was never known by that name has nothing to be deleted;
    an update of it counts as an update of its key. Arguments: run (its load's base is none where there is no state), events, carried (of _resolve_ctes()). -#}
{%- macro _named_ctes(run, events, carried=[]) -%}
{%- set entity = run.entity -%}
{%- set bearer = 'struct(' ~ entity.key_columns | map(attribute='sql') | join(', ') ~ ') as bearer' -%}
names as (
    select
        explode(alternate_hashes) as alternate_hash,
        event_position,
        key_hash,
        {{ bearer }}
    from {{ events }}
    where note is null and event_op in ('insert', 'update', 'upsert', 'read')
    {%- if run.load.base is not none %}

    union all

    select
        explode({{ spark_cdc._alternate_hash_array(entity) }}) as alternate_hash,
        cast(null as array<bigint>) as event_position,
        key_hash,
        {{ bearer }}
    from (
        {{ spark_cdc._prior_sql(run, ['event_position']) | indent(8) }}
    ) as state
    {%- endif %}
),

bearers as (
    select
        incoming.old_alternate_hash,
        incoming.event_position,
        max(struct(names.event_position as since, names.key_hash as key_hash, names.bearer as bearer)) as former
    from {{ events }} as incoming
    inner join names
        on
            incoming.old_alternate_hash = names.alternate_hash
            and (names.event_position is null or names.event_position < incoming.event_position)
    where incoming.note is null
    group by incoming.old_alternate_hash, incoming.event_position
),

named as (
    select
        {%- for column in spark_cdc._event_columns_of_rows(entity) %}
        {{ spark_cdc._named_value(entity, column) }} as {{ column.sql }}{{ ',' if not loop.last }}
        {%- endfor %}
        {%- for name in carried if name not in spark_cdc._event_columns_of_rows(entity) | map(attribute='name') %},
        incoming.{{ name }}
        {%- endfor %}
    from {{ events }} as incoming
    left join bearers
        on incoming.old_alternate_hash = bearers.old_alternate_hash and incoming.event_position = bearers.event_position
    where incoming.note is null and (incoming.old_alternate_hash is null or incoming.key_hash is not null or bearers.former is not null)
)
{%- endmacro -%}


{%- macro _named_value(entity, column) -%}
    {%- set own = 'incoming.' ~ column.sql -%}
    {%- if column.name == 'key_hash' -%}
        coalesce({{ own }}, bearers.former.key_hash)
    {%- elif column.name == 'old_key_hash' -%}
        if(incoming.event_op <> 'delete' and bearers.former.key_hash <> incoming.key_hash, bearers.former.key_hash, {{ own }})
    {%- else -%}
        {%- for key in entity.key_columns if column.name in [key.name, 'old__' ~ key.name] -%}
            coalesce({{ own }}, bearers.former.bearer.{{ key.sql }})
        {%- else -%}
            {{ own }}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
