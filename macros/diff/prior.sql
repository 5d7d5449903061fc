{#- The rows that exist in a state of the ledger: the rows of its checkpoint, overlaid by the newest
    row of each key that a later load wrote. Only the later loads are ranked, never the checkpoint.
    Arguments: ledger (relation or name of a CTE), in_checkpoint and since_checkpoint (SQL
    conditions for the rows of the checkpoint and of the loads since; since_checkpoint none where
    there are none), columns (list of SQL expressions over the ledger's columns), broadcast (whether
    the keys of the log are few enough to be sent to every executor), dead (whether keys that were
    deleted or never there are wanted too).
    Returns a query. -#}
{%- macro _state_sql(ledger, in_checkpoint, since_checkpoint, columns, broadcast=true, dead=false) -%}
{%- set of_base = spark_cdc._operations('known' if dead else 'existing') -%}
{%- if since_checkpoint is none -%}
select
    {{ columns | join(',\n    ') }}
from {{ spark_cdc._from(ledger) }}
where
    {{ in_checkpoint | indent(4) }}
    and operation in {{ of_base }}
{%- else -%}
select{{ ' /*+ broadcast(changed) */' if broadcast }}
    {{ columns | join(',\n    ') }}
from {{ ledger }} as base
left anti join (
    select key_hash
    from {{ spark_cdc._from(ledger) | indent(4) }}
    where
        {{ since_checkpoint | indent(8) }}
        and operation in {{ spark_cdc._operations('known' if dead else 'visible') }}
) as changed
    on base.key_hash = changed.key_hash
where
    {{ in_checkpoint | indent(4) }}
    and operation in {{ of_base }}

union all

{{ spark_cdc._newest_sql(ledger, since_checkpoint, columns, dead) }}
{%- endif -%}
{%- endmacro -%}


{#- The whole state before a load.
    Arguments: run (with prior and broadcast), more (columns beside payload and eff_start_date),
    dead (whether keys that were deleted or never there are wanted too). -#}
{%- macro _prior_sql(run, more=[], dead=false) -%}
{%- set load = run.load -%}
{{ spark_cdc._state_sql(
    run.prior, spark_cdc._in_loads([load.base]), spark_cdc._in_loads(load.log) if load.log else none,
    spark_cdc._payload(run.entity) + ['eff_start_date'] + spark_cdc._columns_before(run, more), run.broadcast, dead
) }}
{%- endmacro -%}


{#- The prior rows of the keys that came in. They are few, so only these are ranked, and the
    ledger's rows meet the incoming keys first: no row of a big ledger is shuffled.
    Arguments: run, incoming, columns, condition (which of the incoming rows). -#}
{%- macro _prior_of_sql(run, incoming, columns, condition=none) -%}
{%- set of_keys -%}
{{ spark_cdc._in_loads([run.load.base] + run.load.log) }}
and key_hash in (select key_hash from {{ incoming }}{{ ' where ' ~ condition if condition }})
{%- endset -%}
{{ spark_cdc._newest_sql(run.prior, of_keys, columns) }}
{%- endmacro -%}


{#- The newest row of each key among the ledger's rows that fulfil a condition, without the keys
    deleted last unless these are wanted. All of these rows are ranked, so the condition has to
    leave few. -#}
{%- macro _newest_sql(ledger, condition, columns, dead=false) -%}
select
    {{ columns | join(',\n    ') }}
from (
    select
        *,
        row_number() over (partition by key_hash order by load_id desc) as cdc__rank
    from {{ spark_cdc._from(ledger) | indent(4) }}
    where
        {{ condition | indent(8) }}
        and operation in {{ spark_cdc._operations('known' if dead else 'visible') }}
) as newest
where cdc__rank = 1{{ " and operation <> 'D'" if not dead }}
{%- endmacro -%}


{#- The rows of some keys in a state: those of its checkpoint, overlaid by what later loads changed.
    Arguments: ledger, keys (CTE with the key_hash of the rows that are wanted; none for all), state
    (base, log, until: see _state_after_commits()), columns (list of expressions), changed
    (operations of the rows that count after the checkpoint). -#}
{%- macro _rows_of_keys_sql(ledger, keys, state, columns, changed) -%}
select
    {{ columns | join(',\n    ') }}
from (
    select
        loaded.*,
        row_number() over (partition by loaded.key_hash order by loaded.eff_start_date desc, loaded.load_id desc) as cdc__rank
    from {{ ledger | string | indent(4) }} as loaded
    {%- if keys %}
    left semi join {{ keys }}
        on loaded.key_hash = {{ keys }}.key_hash
    {%- endif %}
    where
        loaded.{{ spark_cdc._in_loads([state.base] | select | list + state.log) }}
        and (
            {%- if state.base %}
            loaded.load_id = '{{ state.base }}' and loaded.operation in {{ spark_cdc._operations('existing') }}
            {%- endif %}
            {%- if state.log %}
            {{ 'or ' if state.base }}{{ 'loaded.' ~ spark_cdc._in_loads(state.log) }}
            and loaded.operation in {{ changed }}
            {%- if state.get('until') %}
            and loaded.eff_start_date <= timestamp_ntz'{{ state.until }}'
            {%- endif %}
            {%- endif %}
        )
) as ranked
where cdc__rank = 1 and operation <> 'D'
{%- endmacro -%}


{#- The one comparison of two states, which begin with the same loads: of each key that one of them
    has changed since, its row in either. Used by diff(), by the report, by what a replay would
    change, and by change feeds where a commit took loads away.
    Arguments: ledger, changed (query of the rows that only one of the states has: columns and
    cdc__is_after, which says whether it is the second), common (the state at the end of the loads
    that both have), columns (list of expressions over the ledger's, key_hash, operation,
    eff_start_date and load_id among them), operations (as of _rows_of_keys_sql()).
    Returns common table expressions; the last one is `states`: these columns and cdc__is_after,
    also of keys that are deleted (operation D). -#}
{%- macro _compared_states_ctes(ledger, changed, common, columns, operations) -%}
changed as (
    {{ changed | indent(4) }}
),

states as (
    select *
    from (
        select
            *,
            row_number() over (partition by key_hash, cdc__is_after order by eff_start_date desc, load_id desc) as cdc__rank
        from (
            select *
            from changed
            {%- if common.base or common.log %}

            union all

            select
                *,
                explode(array(false, true)) as cdc__is_after
            from (
                {{ spark_cdc._rows_of_keys_sql(ledger, 'changed', common, columns, operations) | indent(16) }}
            ) as prior
            {%- endif %}
        ) as known
    ) as ranked
    where cdc__rank = 1
)
{%- endmacro -%}


{#- The last rows before a load of some keys, also of keys that were deleted (D) or never there (T).
    As long as the keys are few enough to be broadcast, the ledger's rows meet them first, in one
    scan, and only what is left is ranked; else the rows of all keys are meant.
    Arguments: run, of_keys (query of their hashes), key_count (how many they are at most),
    columns. -#}
{%- macro _rows_before_sql(run, of_keys, key_count, columns) -%}
{%- set columns = spark_cdc._columns_before(run, columns) -%}
{%- if not spark_cdc._is_few(run.entity, key_count) -%}
{{ spark_cdc._state_sql(
    run.prior, spark_cdc._in_loads([run.load.base]), spark_cdc._in_loads(run.load.log) if run.load.log else none, columns, false, dead=true
) }}
{%- else -%}
{%- set condition -%}
{{ spark_cdc._in_loads([run.load.base] + run.load.log) }}
and key_hash in (
    select /*+ broadcast(wanted) */ key_hash
    from (
        {{ of_keys | indent(8) }}
    ) as wanted
)
{%- endset -%}
{%- if run.load.log -%}
{{ spark_cdc._newest_sql(run.prior, condition, columns, dead=true) }}
{%- else -%}  {#- a checkpoint has one row of each key -#}
{{ spark_cdc._state_sql(run.prior, condition, none, columns, dead=true) }}
{%- endif -%}
{%- endif -%}
{%- endmacro -%}


{#- Columns of the rows before a load: without their positions where these are of a numbering that
    has ended. -#}
{%- macro _columns_before(run, columns) -%}
    {%- set shown = [] -%}
    {%- for column in columns -%}
        {%- set ends = column == 'event_position' and run.load.get('restarts') -%}
        {%- do shown.append('cast(null as array<bigint>) as event_position' if ends else column) -%}
    {%- endfor -%}
    {{ return(shown) }}
{%- endmacro -%}


{#- The partition of a load's rows; the operation follows it. -#}
{%- macro _partition(load) -%}
date'{{ load.business_time[:10] }}' as business_date,
'{{ load.load_id }}' as load_id
{%- endmacro -%}


{#- When a load begins, as a literal of the type of eff_start_date. -#}
{%- macro _load_start(run) -%}{{ return(run.entity.eff_type ~ "'" ~ run.load.business_time ~ "'") }}{%- endmacro -%}


{#- The columns of a row of the prior state that a load of rows writes once more: carried over,
    held, or as its last payload.
    Arguments: run, row (what the prior rows are called), operation, start (eff_start_date as SQL;
    none keeps the row's). -#}
{%- macro _prior_row(run, row, operation, start=none) -%}
{{ row }}.{{ spark_cdc._payload(run.entity) | join(',\n' ~ row ~ '.') }},
{{ start ~ ' as eff_start_date' if start else row ~ '.eff_start_date' }},
cast(null as string) as cdc__note,
{{ spark_cdc._partition(run.load) }},
'{{ operation }}' as operation
{%- endmacro -%}


{#- The columns that some event of a load lacks; all but the key's where it is not known which. -#}
{%- macro _missing_of(entity, summary) -%}
    {%- set columns = entity.stored | rejectattr('role', 'equalto', 'key') if summary.partial else [] -%}
    {{ return((columns if summary.get('missing') is none else columns | selectattr('name', 'in', summary.missing)) | list) }}
{%- endmacro -%}


{#- What a row carries whatever becomes of it: the stored columns and the hashes.
    Returns a list of expressions. -#}
{%- macro _payload(entity) -%}
    {{ return(entity.stored | map(attribute='sql') | list + spark_cdc._payload_hashes(entity)) }}
{%- endmacro -%}


{%- macro _payload_hashes(entity) -%}
    {{ return(['key_hash', 'nonkey_hash'] + (['untracked_hash'] if entity.untracked else [])) }}
{%- endmacro -%}
