{#- Tagging of several dates at once, as SQL: what loads of these dates, one after the other, would write. A row of the source that stays as it is comes in
    once, with the dates on which it came as the bits of a number, so that what costs is what changes: a version begins where its row came but not on the
    date before, and its key is gone where none of its versions goes on. Of what begins and ends, each is compared with what was before it in its key
    (`lag`). Of a delta, in which a key that did not come stays as it was, each row that came counts.
    Arguments: run (as of _tag_sql(); its load is that of the first date, the only one that may be a checkpoint), loads (the plans, one per date), incoming
    (relation or query with the columns of _stage_sql() and backfill__days: bit n stands for the n-th of the loads; bit 0, which none of them has, for the state
    before). Returns a query whose columns are the ledger's, in its order. -#}
{%- macro _tag_dates_sql(run, loads, incoming) -%}
{%- set entity, load = run.entity, run.load -%}
{%- set is_full = load.load_type == 'full' -%}
{%- set payload = spark_cdc._payload(entity) -%}
{%- set warns = spark_cdc._rule_mask(entity.rules, ['warn']) > 0 -%}
{%- set counts_each_day = 'note is null and broken_rules is null' if warns else 'note is null' -%}
{%- set carries_over = load.is_checkpoint and not is_full and load.base -%}
with dates as (
    select *
    from
        values
        (0, 1L, cast(null as {{ entity.eff_type }}), cast(null as date), cast(null as string), false),
        {%- for one in loads %}
        ({{ loop.index }}, {{ 2 ** loop.index }}L, {{ spark_cdc._load_start({'entity': entity, 'load': one}) }}, date'{{ one.business_time[:10] }}', {# -#}
        '{{ one.load_id }}', {{ (not is_full or one.is_checkpoint) | string | lower }}){{ ',' if not loop.last }}
        {%- endfor %}
            as dates (backfill__position, backfill__day, backfill__start_date, business_date, load_id, backfill__writes_unchanged)
),

versions as (
    select
        {{ payload | join(',\n        ') }},
        cast(null as {{ entity.eff_type }}) as eff_start_date,
        note,
        {%- if warns %}
        broken_rules,
        {%- endif %}
        {{ 'is_deleted' if entity.deleted_when else 'false' }} as is_deleted,
        backfill__days,
        false as backfill__is_prior
    from {{ spark_cdc._from(incoming) }}
    {%- if load.base %}

    union all

    select
        {{ payload | join(',\n        ') }},
        eff_start_date,
        cast(null as string) as note,
        {%- if warns %}
        cast(null as string) as broken_rules,
        {%- endif %}
        false as is_deleted,
        1L as backfill__days,
        true as backfill__is_prior
    from (
        {{ spark_cdc._prior_sql(run) | indent(8) }}
    ) as prior
    {%- endif %}
),

spans as (
    select
        *,
        bit_or(backfill__days) over (partition by key_hash, note is null) as backfill__key_days
    from versions
),

marked as (
    select
        *,
        {%- if is_full %}
        if({{ counts_each_day }}, backfill__days & ~shiftleft(backfill__days, 1), backfill__days) as backfill__begins,
        if(note is null, shiftleft(backfill__days, 1) & ~backfill__key_days & {{ 2 ** (loads | length + 1) - 2 }}L, 0L) as backfill__ends
        {%- else %}
        backfill__days{{ ' | if(backfill__is_prior, 2L & ~backfill__key_days, 0L)' if carries_over }} as backfill__begins,
        0L as backfill__ends
        {%- endif %}
    from spans
),

steps as (
    select
        marked.*,
        dates.*,
        is_deleted or backfill__ends & backfill__day <> 0 as backfill__is_gone
    from marked
    inner join dates
        on (backfill__begins | backfill__ends) & backfill__day <> 0
),

compared as (
    select
        {{ payload | join(',\n        ') }},
        eff_start_date,
        note,
        {%- if warns %}
        if(backfill__is_gone, null, broken_rules) as broken_rules,
        {%- endif %}
        backfill__position,
        backfill__start_date,
        business_date,
        load_id,
        backfill__writes_unchanged,
        {%- if not is_full and entity.deleted_when %}
        lag(named_struct({% for column in payload %}'{{ loop.index }}', {{ column }}{{ ', ' if not loop.last }}{% endfor %})) over in_key as backfill__before,
        {%- endif %}
        {%- if entity.ignored %}
        not ignored_hash <=> lag(ignored_hash) over in_key as backfill__ignored_differs,
        {%- endif %}
        case
            when note is not null then 'R'
            when backfill__is_prior and not backfill__is_gone then 'X'
            when backfill__is_gone and coalesce(not lag(backfill__is_gone) over in_key, false) then 'D'
            when backfill__is_gone then 'T'
            when coalesce(lag(backfill__is_gone) over in_key, true) then 'I'
            when nonkey_hash <> lag(nonkey_hash) over in_key then 'U'
            else 'N'
        end as operation
    from steps
    window in_key as (partition by key_hash, note is null order by backfill__position)
),

started as (
    select
        *,
        last_value(if(operation in ('I', 'U'), backfill__start_date, if(backfill__position = 0, eff_start_date, null)), true) over (
            partition by key_hash, note is null
            order by backfill__position
            rows between unbounded preceding and current row
        ) as backfill__kept_start_date
    from compared
)

{%- set is_mark -%}
operation = 'N' and not backfill__writes_unchanged{{ ' and not coalesce(backfill__ignored_differs, false)' if entity.ignored }}
{%- endset %}

select /*+ rebalance(load_id, operation) */
    {%- for column in payload %}
    {%- set value = 'if(' ~ is_mark ~ ', null, ' ~ column ~ ')' if warns and column != 'key_hash' else column %}
    {%- if not is_full and entity.deleted_when %}
    if(operation = 'D', backfill__before.`{{ loop.index }}`, {{ value }}) as {{ column }},
    {%- else %}
    {{ spark_cdc._aliased(value, column) }},
    {%- endif %}
    {%- endfor %}
    if(operation in ('N', 'X'), backfill__kept_start_date, backfill__start_date) as eff_start_date,
    {{ spark_cdc._rule_noted(entity) }},
    business_date,
    load_id,
    {{ "if(" ~ is_mark ~ ", 'W', operation) as operation" if warns else 'operation' }}
from started
where
    backfill__position > 0
    and (operation <> 'N' or backfill__writes_unchanged{{ ' or backfill__ignored_differs' if entity.ignored }}{{ ' or broken_rules is not null' if warns }})
{%- endmacro -%}
