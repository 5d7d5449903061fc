{#- The steps of each key in their order, equal ones at one place told from different ones; of keys that stay the last one, beside what the
    earlier steps of its row say. Arguments: how (of _resolve_ctes()). -#}
{%- macro _rank_ctes(how) -%}
{%- set by_position = 'partition by key_hash order by event_position, step__half, event_hash' ~ (', load_id' if how.carried else '') -%}
{%- set at_same_place -%}
lag(event_position) over ({{ by_position }}) = event_position and lag(step__half) over ({{ by_position }}) = step__half
{%- endset -%}
ordered as (
    select
        *,
        lead(event_position) over ({{ by_position }}) is null as step__is_last,
        coalesce(
            {{ at_same_place }}
            and lag(event_hash) over ({{ by_position }}) = event_hash, false
        ) as step__is_repeated,
        coalesce(
            {{ at_same_place }}
            and lag(event_hash) over ({{ by_position }}) <> event_hash, false
        ) as step__is_conflict
        {%- if how.partial and not how.moves %}
        {%- for column in how.missing %},
        last_value(
            if(step__is_end or step__is_start or not {{ spark_cdc._is_missing(column) }}, struct({{ column.sql }} as value), null), true
        ) over ({{ by_position }} rows between unbounded preceding and current row) as {{ spark_cdc._quote('filled__' ~ column.name) }}
        {%- endfor %}
        {%- endif %}
    from newer
),

{% if how.moves -%}
{{ spark_cdc._queue_ctes(how) }}
{%- else -%}
resolved as (
    select
        key_hash,
        event_position,
        not step__is_end as step__is_alive,
        step__is_conflict,
        {%- if how.carried %}
        step__half,
        {%- endif %}
        {{ (how.value_names + ['key_hash as step__root_key_hash']) | join(',\n        ') }}
    from ordered
    where {{ 'not step__is_repeated' if how.carried else 'step__is_last or step__is_conflict' }}
)
{%- endif %}
{%- endmacro -%}
