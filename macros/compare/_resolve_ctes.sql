{#- Resolving as common table expressions: what the events of a load do to each key, ranked by the declared order in
    one pass. The last of them is `resolved`: one row per key that something was applied to.

    Columns of its own begin with step__, so that they never meet a column of the entity.
    An event is one step of its key, or two where the key changes: the old key is given up (half 0), the new one taken
    (half 1). The last step of a key tells whether it is there; values that a row lacks come from the row's earlier
    steps since it began, else from its prior state.

    steps (_event_steps_sql) -> newer: without those that come too late -> resolved, in one of three ways:
    - whole rows under keys that stay: the step with the highest position (here);
    - keys that stay: the last step of each key, beside what its row's earlier steps say (_rank_ctes);
    - keys that move: rows queue under a key (_queue_ctes), and a row that lacks columns is followed through its keys (_follow_ctes).

    Arguments: entity, events (relation, or name of a CTE, with the columns of _event_columns()), summary (of _event_summary()), prior
    (name of a CTE with key_hash, event_position and operation of the keys' last rows, or none), carried (columns of the events, load_id
    among them, that are handed on with every step; none: of each key the last step is wanted). Columns of `resolved`: key_hash, event_position (last applied),
    step__is_alive, step__is_conflict, those carried (and step__half, by which they are ordered at one place), the key columns, those of _missing_of() as `filled__<name>` (null or a struct with the value) where
    partial, the others under their names; step__root_key_hash (whose prior row fills what is still missing, or null) where partial. -#}
{%- macro _resolve_ctes(entity, events, summary, prior=none, carried=[]) -%}
{%- set missing = spark_cdc._missing_of(entity, summary) -%}
{%- set names = carried + entity.key_columns | map(attribute='sql') | list -%}
{%- for column in missing -%}{%- do names.append(spark_cdc._quote('filled__' ~ column.name)) -%}{%- endfor -%}
{%- for column in entity.stored if column.role != 'key' and column not in missing -%}{%- do names.append(column.sql) -%}{%- endfor -%}
{%- set compared = [] -%}
{%- for column in entity.compared -%}{%- do compared.append(dict(column, sql='steps.' ~ column.sql)) -%}{%- endfor -%}
{%- set how = {
    'entity': entity,
    'events': events,
    'summary': summary,
    'carried': carried,
    'moves': spark_cdc._keys_move(entity, summary),
    'has_prior': prior is not none,
    'partial': summary.partial,
    'missing': missing,
    'value_names': names,
} -%}
steps as (
    {{ spark_cdc._event_steps_sql(how) | indent(4) }}
),

{% if prior and (summary.late_possible or how.moves) -%}
-- what is not newer than what was last applied to its key changes nothing
newer as (
    select
        steps.*,
        coalesce({{ spark_cdc._is_alive('prior', summary.truncated) }}, false) as step__existed
        {%- if how.moves %},
        coalesce(not {{ spark_cdc._is_alive('prior', summary.truncated) }}, false) as step__was_dead,
        -- a row that is inserted as it is there is sent again
        coalesce(
            if(step__is_inserted and step__may_queue, prior.nonkey_hash = {{ spark_cdc._hash(compared) | indent(12) }}, false), false
        ) as step__is_known
        {%- endif %}
    from steps
    left join {{ prior }} as prior
        on steps.key_hash = prior.key_hash
    where prior.event_position is null or steps.event_position > prior.event_position
),
{%- else -%}
newer as (
    select
        *,
        false as step__existed
    from steps
),
{%- endif %}

{% if how.moves or how.partial or carried or summary.get('conflicts', true) -%}
{{ spark_cdc._rank_ctes(how) }}
{%- else -%}
resolved as (
    select
        key_hash,
        event_position,
        not step__is_end as step__is_alive,
        false as step__is_conflict,
        {{ (names + ['key_hash as step__root_key_hash']) | join(',\n        ') }}
    from (
        select
            *,
            row_number() over (partition by key_hash order by event_position desc) as recency
        from newer
    ) as newest
    where recency = 1
)
{%- endif %}
{%- endmacro -%}
