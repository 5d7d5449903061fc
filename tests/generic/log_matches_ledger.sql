{#- The figures of the loads agree: what is counted in the ledger (told from file footers alone)
    with cdc_loads, each load with the one before it (rows before + I - D), checkpoints with the
    rows that they carry, the manifest with the last load and with the rows that were written since
    the checkpoint. cdc_loads has one row for each load that counts, and none of loads that nobody
    knows of. On <entity>_committed; columns as of _verified(). -#}
{%- test log_matches_ledger(model) -%}
{{- config(tags=['spark_cdc_verify']) -}}
{%- set referred = ref('spark_cdc', 'cdc_loads') -%}
{%- set verified = spark_cdc._verified(model) -%}
{%- if verified.loads -%}
{%- do spark_cdc._read_despite_damage() -%}
{%- set name = verified.entity.name -%}
{%- set load_log = spark_cdc._load_log_beside(model, name, referred) -%}
{%- set logged = adapter.get_columns_in_relation(load_log) | map(attribute='name') | list if spark_cdc._is_listed(load_log) else [] -%}
{%- set compared = [
    'rows_inserted', 'rows_updated', 'rows_deleted', 'rows_unchanged', 'rows_not_supplied', 'rows_rejected', 'rows_prior', 'rows_current',
    'parent_load_id',
] -%}
{%- set drop = spark_cdc._drop_row_text(load_log, name) -%}
{#- what the manifest names is not to be trusted if somebody changed it -#}
{%- set drop = "'mend " ~ verified.committed ~ " first, as the finding on it says, and verify again'"
    if spark_cdc._verified_manifest(verified) else drop -%}
{%- set since_checkpoint = spark_cdc._in_loads(spark_cdc._state_loads(verified.loads).log or ['']) -%}
{%- set log_anew = 'dbt run --select ' ~ name ~ '_committed' -%}
with {{ spark_cdc._verified_loads(verified) }},

{{ spark_cdc._verified_records(verified) }},

written as (
    select
        load_id,
        {%- for operation in ['I', 'U', 'D', 'N', 'X', 'R'] %}
        count_if(operation = '{{ operation }}') as {{ operation | lower }}{{ ',' if not loop.last }}
        {%- endfor %}
    from (
        select
            load_id,
            operation
        from {{ verified.ledger }}
        where {{ spark_cdc._in_loads(verified.loads) }}

        union all

        select
            load_id,
            null as operation
        from loads
    ) as rows_of_loads
    group by load_id
),

counted as (
    select
        written.*,
        written.load_id rlike '-fc?-' as is_full,
        records.record.parent as parent_load_id,
        records.record.replaced,
        coalesce(
            sum(written.i - written.d) over (order by written.load_id rows between unbounded preceding and 1 preceding), 0
        ) as rows_prior
    from written
    left join records
        on written.load_id = records.load_id
),

{# Rows that carry over are counted, whether or not the load wrote them. -#}
figures as (
    select
        load_id,
        i as rows_inserted,
        u as rows_updated,
        d as rows_deleted,
        if(is_full, rows_prior - u - d - x, n) as rows_unchanged,
        if(is_full or load_id rlike '-h-', x, rows_prior - u - n - d) as rows_not_supplied,
        r as rows_rejected,
        rows_prior,
        rows_prior + i - d as rows_current,
        parent_load_id,
        replaced,
        if(is_full, 'N', 'X') as carried,
        if(is_full, n, x) as rows_carried,
        {{ since_checkpoint }} as is_since,
        sum(if({{ since_checkpoint }}, i + u + d + n + x, 0)) over () as rows_since
    from counted
),

logged as (
    select
        load_id,
        count(*) as log_rows,
        {%- for column in compared + ['status', 'replaced_load_ids'] %}
        any_value({{ column if column in logged else 'null' }}) as {{ column }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ load_log if logged else "(select '' as entity, '' as load_id) as nothing" }}
    where entity = '{{ name }}'
    group by load_id
),

compared as (
    select
        coalesce(figures.load_id, logged.load_id) as load_id,
        figures.rows_prior,
        figures.rows_inserted,
        figures.rows_updated,
        figures.rows_deleted,
        figures.rows_current,
        figures.carried,
        figures.rows_carried,
        figures.rows_since,
        figures.is_since,
        figures.load_id is not null as is_named,
        if(figures.carried = 'N', figures.rows_unchanged, figures.rows_not_supplied) as rows_to_carry,
        coalesce(logged.log_rows, 0) as log_rows,
        coalesce(logged.status, 'committed') as status,
        array_contains(
            flatten(collect_list(
                concat(coalesce(split(logged.replaced_load_ids, ', '), array()), coalesce(figures.replaced, array()))
            ) over ()),
            logged.load_id
        ) as is_replaced,
        concat_ws(
            '; '
            {%- for column in compared %},
            if(
                logged.{{ column }} <=> figures.{{ column }}, null,
                format_string('{{ column }} is %s, in the ledger %s', logged.{{ column }}, figures.{{ column }})
            )
            {%- endfor %}
        ) as differences
    from figures
    full outer join logged
        on figures.load_id = logged.load_id
),

judged as (
    select
        load_id,
        stack(
            5,
            case
                when rows_to_carry < 0 or (load_id rlike '-[a-z]c-' and rows_to_carry <> rows_carried)
                    then format_string(
                        'the counts do not reconcile: %s rows before, I %s, U %s, D %s leave %s rows %s; written are %s',
                        rows_prior, rows_inserted, rows_updated, rows_deleted, rows_to_carry, carried, rows_carried
                    )
            end,
            '%s',
            case
                when is_named and log_rows <> 1 then format_string('cdc_loads has %s rows of the load instead of one', log_rows)
                when not is_named and not is_replaced and status = 'committed'
                    then 'cdc_loads has a row of a load that does not count and that none replaced'
            end,
            concat_ws('; then ', if(log_rows > 0, {{ drop }}, null), if(is_named, '{{ log_anew }}', null)),
            case
                when is_named and log_rows = 1 and differences <> ''
                    then concat('cdc_loads and the ledger have different figures: ', differences)
            end,
            concat('if the ledger is right (no other finding on it): ', {{ drop }}, '; then {{ log_anew }}; else %s'),
            case
                when load_id = '{{ verified.loads[-1] }}' and rows_current <> {{ verified.manifest.rows }}
                    then format_string(
                        'the manifest says that {{ verified.manifest.rows }} rows exist, the counts of the loads give %s', rows_current
                    )
            end,
            '%s',
            case
                when rows_since <> {{ verified.manifest.log_rows }} and load_id = first_since
                    then format_string(
                        'the manifest says that {{ verified.manifest.log_rows }} rows were written since the checkpoint, the ledger holds %s',
                        rows_since
                    )
            end,
            '%s'
        ) as (problem, repair)
    from (
        select
            *,
            {#- where it began: cdc_loads may tell #}
            coalesce(
                min(if(is_since and differences <> '', load_id, null)) over (), min(if(is_since, load_id, null)) over ()
            ) as first_since
        from compared
    ) as followed
),

found as (
    select *
    from judged
    where problem is not null
)

{{ spark_cdc._verified_findings(verified) }}
{%- else -%}
{{ spark_cdc._verified_nothing() }}
{%- endif -%}
{%- endtest -%}
