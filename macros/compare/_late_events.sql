{#- Events that come too late to change anything: not newer than what was last applied to their key, or to the whole table.
    Arguments: run, events (of _event_summary()), event_count, truncated (position of the load's own last truncate, or none). Returns a dictionary: late, known (events that could be late, since their key is known), and late_apart (late
    ones of keys that the load leaves otherwise than their newest event says; 0 where they are too few for the guard). -#}
{%- macro _late_events(run, events, event_count, truncated) -%}
    {%- set guards = run.entity.guards -%}
    {%- set row = spark_cdc._query(spark_cdc._late_events_sql(run, events, event_count))[0] -%}
    {%- set late, known = row.late | int, row.known | int -%}
    {%- set is_asked = guards.late_share is not none and known >= guards.min_rows and late > guards.late_share * known -%}
    {%- set apart = spark_cdc._query(spark_cdc._late_events_apart_sql(run, events, event_count, truncated))[0].late | int if is_asked else 0 -%}
    {{ return({'late': late, 'known': known, 'late_apart': apart}) }}
{%- endmacro -%}


{%- macro _late_events_sql(run, events, event_count) -%}
{%- set truncated = run.load.applied.get('truncated') -%}
{%- set behind = ' or incoming.event_position <= ' ~ spark_cdc._position_literal(truncated) if truncated else '' -%}
select
    count_if(incoming.event_position <= prior.event_position{{ behind }}) as late,
    count_if(prior.key_hash is not null{{ behind }}) as known
from {{ events }} as incoming
left join (
    {{ spark_cdc._rows_before_sql(run, 'select key_hash from ' ~ events, event_count, ['key_hash', 'event_position']) | indent(4) }}
) as prior
    on incoming.key_hash = prior.key_hash
where incoming.note is null and incoming.event_op <> 'control'
{%- endmacro -%}


{#- An event that comes again is late, too, but what its key came to is in the state: the newest event of the key has the position that was applied
    last, says the same as the row, or is from before a truncate that comes again. -#}
{%- macro _late_events_apart_sql(run, events, event_count, truncated) -%}
{%- set before = run.load.applied.get('truncated') -%}
select coalesce(sum(newest.event_count), 0) as late
from (
    select
        key_hash,
        max(event_position) as event_position,
        max_by(event_op = 'delete', event_position) as is_delete,
        max_by(step__nonkey_hash, event_position) as nonkey_hash,
        count(*) as event_count
    from (
        select
            key_hash,
            event_position,
            event_op,
            if(
                event_absent is null and event_unavailable is null,
                {{ spark_cdc._hash(run.entity.compared) | indent(16) }},
                null
            ) as step__nonkey_hash
        from {{ events }}
        where
            note is null
            and event_op <> 'control'
            and key_hash is not null
            {%- if truncated %}
            and event_position > {{ spark_cdc._position_literal(truncated) }}
            {%- endif %}
    ) as incoming
    group by key_hash
) as newest
left join (
    {{ spark_cdc._rows_before_sql(
        run, 'select key_hash from ' ~ events, event_count, ['key_hash', 'nonkey_hash', 'event_position', 'operation']
    ) | indent(4) }}
) as prior
    on newest.key_hash = prior.key_hash
where
    {{ '(newest.event_position < prior.event_position or newest.event_position <= %s)' | format(spark_cdc._position_literal(before)) if before
        else 'newest.event_position < prior.event_position' }}
    and if(
        coalesce(prior.operation in ('D', 'T'), true),
        not newest.is_delete,
        newest.is_delete or not newest.nonkey_hash <=> prior.nonkey_hash
    )
{%- endmacro -%}
