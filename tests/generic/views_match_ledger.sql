{#- Readers see what the ledger says: each view is there and has the text that the project makes,
    and current, history and versions have the rows that the ledger alone gives, without manifest,
    checkpoints and views. On <entity>_committed; columns as of _verified(). -#}
{%- test views_match_ledger(model) -%}
{{- config(tags=['spark_cdc_verify']) -}}
{%- set verified = spark_cdc._verified(model) -%}
{%- if verified.loads -%}
{%- do spark_cdc._read_despite_damage() -%}
{%- set views = spark_cdc._verified_views(verified) -%}
{%- set stored = verified.entity.stored | map(attribute='sql') | list -%}
{%- set columns = stored + ['key_hash', 'nonkey_hash', 'operation', 'eff_start_date'] -%}
{%- set shown = {'current': columns, 'history': columns + ['business_date'], 'versions': stored + ['key_hash', 'nonkey_hash', 'operation'] + [
    verified.entity.validity.start, verified.entity.validity.end, verified.entity.validity.current]} -%}
with
{%- if views.compared %}
rows_of_ledger as (
    select
        load_id,
        business_date,
        {{ stored | join(',\n        ') }},
        {{ spark_cdc._hex('key_hash') }} as key_hash,
        {{ spark_cdc._hex('nonkey_hash') }} as nonkey_hash,
        operation as ledger_operation,
        eff_start_date
    from {{ spark_cdc._from(verified.rows_shown) | indent(4) }}
    where
        {{ spark_cdc._in_loads(verified.loads) }}
        and operation in {{ spark_cdc._operations('known') }}
),

own_current as (
    select
        *,
        if(load_id = '{{ verified.loads[-1] }}', ledger_operation, '{{ 'N' if spark_cdc._load_kind(verified.loads[-1]).is_full else 'X' }}') as operation
    from (
        select
            *,
            row_number() over (partition by key_hash order by load_id desc, eff_start_date desc) as cdc__rank
        from rows_of_ledger
    ) as ranked
    where cdc__rank = 1 and ledger_operation not in ('D', 'T')
),

own_history as (
    select
        *,
        ledger_operation as operation,
        lead(eff_start_date) over (partition by key_hash order by eff_start_date) as eff_end_date,
        lead(eff_start_date) over (partition by key_hash order by eff_start_date) is null as is_current
    from rows_of_ledger
    where ledger_operation in {{ spark_cdc._operations('changes') }}
),

own_versions as (
    select
        {{ (stored + ['key_hash', 'nonkey_hash', 'operation'] + spark_cdc._validity_columns(verified.entity)) | join(',\n        ') }}
    from own_history
    where operation <> 'D'
),

sums as (
    {%- for kind, view in views.compared.items() %}
    {%- for relation in [view, 'own_' ~ kind] %}
    select
        '{{ kind }}' as kind,
        {{ 'true' if loop.first else 'false' }} as is_shown,
        count(*) as row_count,
        coalesce(sum(cast(xxhash64(to_json(struct({{ shown[kind] | join(', ') }}))) as decimal(38, 0))), 0) as checksum
    from {{ relation }}
    {{- '\n\n    union all\n' if not (loop.last and kind == (views.compared | list)[-1]) }}
    {%- endfor %}
    {%- endfor %}
),

compared as (
    select
        kind,
        max_by(row_count, is_shown) as shown_rows,
        min_by(row_count, is_shown) as own_rows,
        count(distinct checksum) as checksums
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
    where shown_rows <> own_rows or checksums <> 1
    {%- endif %}
)

{{ spark_cdc._verified_findings(verified, is_of_loads=false) }}
{%- else -%}
{{ spark_cdc._verified_nothing() }}
{%- endif -%}
{%- endtest -%}
