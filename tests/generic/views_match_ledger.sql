{#- Readers see what the ledger says: each view is there and has the text that the project makes, and current, history and versions have the
    rows that the ledger alone gives, without manifest, checkpoints and views. On <entity>_committed; columns as of _verified(). -#}
{%- test views_match_ledger(model) -%}
{{- config(tags=['spark_cdc_verify']) -}}
{%- set verified = spark_cdc._verified(model) -%}
{%- if verified.loads -%}
{%- do spark_cdc._verified_despite_damage() -%}
{%- set views = spark_cdc._verified_views(verified) -%}
{%- set stored = verified.entity.stored | map(attribute='sql') | list -%}
{%- set hashes = [spark_cdc._hex('key_hash') ~ ' as key_hash', spark_cdc._hex('nonkey_hash') ~ ' as nonkey_hash'] -%}
{%- set shown = {
    'current': stored + ['key_hash', 'nonkey_hash', 'operation', 'eff_start_date'],
    'history': stored + ['key_hash', 'nonkey_hash', 'operation', 'eff_start_date', 'business_date'],
    'versions': stored + ['key_hash', 'nonkey_hash', 'operation', 'eff_start_date', 'eff_end_date', 'is_current'],
} -%}
with
{%- if views.compared %}
rows_of_ledger as (
    select *
    from {{ spark_cdc._from(verified.rows) | indent(4) }}
    where
        {{ spark_cdc._in_loads(verified.loads) }}
        and operation in {{ spark_cdc._operations('known') }}
),

own_current as (
    select
        {{ (stored + hashes) | join(',\n        ') }},
        if(load_id = '{{ verified.loads[-1] }}', operation, '{{ 'N' if spark_cdc._is_full(verified.loads[-1]) else 'X' }}') as operation,
        eff_start_date
    from (
        select
            *,
            row_number() over (partition by key_hash order by load_id desc, eff_start_date desc) as recency
        from rows_of_ledger
    ) as ranked
    where recency = 1 and operation not in ('D', 'T')
),

own_history as (
    select
        {{ (stored + hashes) | join(',\n        ') }},
        operation,
        eff_start_date,
        business_date
    from rows_of_ledger
    where operation in {{ spark_cdc._operations('changes') }}
),

own_versions as (
    select
        {{ stored | join(',\n        ') }},
        key_hash,
        nonkey_hash,
        operation,
        eff_start_date,
        lead(eff_start_date) over (partition by key_hash order by eff_start_date) as eff_end_date,
        lead(eff_start_date) over (partition by key_hash order by eff_start_date) is null as is_current
    from own_history
),

sums as (
    {%- for kind, view in views.compared.items() %}
    {%- for side, relation in [('shown', view), ('own', 'own_' ~ kind)] %}
    select
        '{{ kind }}' as kind,
        '{{ side }}' as side,
        count(*) as row_count,
        sum(cast(xxhash64(to_json(struct({{ shown[kind] | join(', ') }}))) as decimal(38, 0))) as checksum
    from {{ relation }}
    {%- if side == 'own' and kind == 'versions' %}
    where operation <> 'D'
    {%- endif %}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
),

compared as (
    select
        kind,
        max(if(side = 'shown', row_count, null)) as shown_rows,
        max(if(side = 'own', row_count, null)) as own_rows,
        coalesce(max(if(side = 'shown', checksum, null)), 0) as shown_sum,
        coalesce(max(if(side = 'own', checksum, null)), 0) as own_sum
    from sums
    group by kind
),
{% endif %}
found as (
    {{ spark_cdc._verified_list(views.findings) | indent(4) }}
    {%- if views.compared %}

    union all

    select
        format_string(
            'the view {{ verified.entity.name }}_%s shows %s rows, the ledger gives %s%s',
            kind, shown_rows, own_rows, if(shown_rows = own_rows, ', with other values', '')
        ) as problem,
        null as load_id,
        'if there are findings on the ledger, repair those first; else report it' as repair,
        null as examples
    from compared
    where shown_rows <> own_rows or shown_sum <> own_sum
    {%- endif %}
)

{{ spark_cdc._verified_findings(verified) }}
{%- else -%}
{{ spark_cdc._verified_nothing() }}
{%- endif -%}
{%- endtest -%}
