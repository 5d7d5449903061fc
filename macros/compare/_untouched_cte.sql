{#- Rows of the state that no event of the load was applied to, as far as the load writes them: at a checkpoint all carry over (X), and so do
    tombstones, as long as tombstone_days says (T); those that are older than a truncate are deleted (D). What is not newer than the row
    changed nothing, so the steps can be asked, and not what is left of them after they met the prior rows. -#}
{%- macro _untouched_cte(run, summary) -%}
{%- set entity, load = run.entity, run.load -%}
{%- set truncated = spark_cdc._position_literal(summary.truncated) if summary.truncated else none -%}
untouched as (
    select
        {{ spark_cdc._payload(entity) | join(',\n        ') }},
        {{ "if(fate = 'D', " ~ spark_cdc._load_start(run) ~ ', eff_start_date) as eff_start_date' if summary.truncates else 'eff_start_date' }},
        {{ "if(fate = 'D', " ~ truncated ~ ', event_position) as event_position' if summary.truncates else 'event_position' }},
        cast(null as string) as note,
        {{ spark_cdc._partition(load) | indent(8) }},
        fate as operation
    from (
        select
            state.*,
            case
                {%- if load.is_checkpoint %}
                {%- if load.get('restarts') %}
                when state.operation in ('D', 'T') then null
                {%- else %}
                when state.operation in ('D', 'T')
                    then if(cast(state.eff_start_date as date) >= {# -#}
                    date_sub(date'{{ load.business_time[:10] }}', {{ entity.events.tombstone_days }}), 'T', null)
                {%- endif %}
                {%- endif %}
                {%- if summary.truncates %}
                when state.event_position is null or state.event_position <= {{ truncated }} then 'D'
                {%- endif %}
                {%- if load.is_checkpoint %}
                {{ 'when state.event_position > ' ~ truncated ~ ' then' if truncated else 'else' }} 'X'
                {%- endif %}
            end as fate
        from (
            {{ spark_cdc._prior_sql(run, ['event_position', 'operation'], dead=load.is_checkpoint) | indent(12) }}
        ) as state
        left anti join (
            select
                key_hash,
                max(event_position) as event_position
            from {{ 'last' if summary.get('by_last') else 'steps' }}
            {%- if spark_cdc._rule_mask(entity.rules, ['drop', 'fail']) %}
            -- a key whose row a rule sets aside is as it was
            where key_hash not in (select key_hash from judged where operation = 'R')
            {%- endif %}
            group by key_hash
        ) as touched
            on state.key_hash = touched.key_hash and coalesce(touched.event_position > state.event_position, true)
    ) as decided
    where fate is not null
)
{%- endmacro -%}
