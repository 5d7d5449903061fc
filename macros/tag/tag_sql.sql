{#- Tagging as SQL: each row of a load compared with the state before it.

    | load type | key in the load | key before | nonkey_hash | operation |
    |-----------|-----------------|------------|-------------|-----------|
    | both      | yes             | no         |             | I         |
    | both      | yes             | yes        | differs     | U         |
    | both      | yes             | yes        | same        | N (full: written at checkpoints or if an ignored column differs) |
    | full      | no              | yes        |             | D, with the last payload |
    | delta     | flagged deleted | yes        |             | D, with the last payload |
    | delta     | flagged deleted | no         |             | T (tombstone, seen by nobody) |
    | delta     | no              | yes        |             | X (written at checkpoints) |

    A row with a note is rejected (R); where such rows are set aside (entity.quarantine), their keys stay as they were: X in a
    delta, and in a full load by what hold_sql() adds. Nothing is read from the catalogue.
    Arguments: entity, load (of plan_load()), incoming (relation or CTE with the columns of stage_sql()), ledger
    (relation or CTE with the ledger's columns), broadcast (whether the keys of the loads since the checkpoint are
    few). Returns a query whose columns are the ledger's, in its order. -#}
{%- macro tag_sql(entity, load, incoming, ledger, broadcast=true) -%}
    {%- if load.base is none -%}
        {{ return(spark_cdc._tag_first_sql(entity, load, incoming)) }}
    {%- elif load.load_type == 'full' -%}
        {{ return(spark_cdc._tag_full_sql(entity, load, incoming, ledger, broadcast)) }}
    {%- endif -%}
    {{ return(spark_cdc._tag_delta_sql(entity, load, incoming, ledger, broadcast)) }}
{%- endmacro -%}


{#- The columns of the ledger: the stored ones, hashes, eff_start_date, for events the position last applied, note, then
    the partition's; each with where it lies under a layout. -#}
{%- macro _ledger_columns(entity, layout={}) -%}
    {%- set columns = [] -%}
    {%- for column in entity.stored -%}
        {%- do columns.append({'name': column.name, 'sql': column.sql, 'data_type': column.data_type}) -%}
    {%- endfor -%}
    {%- for name, data_type in [('key_hash', 'binary'), ('nonkey_hash', 'binary'), ('ignored_hash', 'binary'),
                                ('eff_start_date', entity.eff_type), ('event_position', 'array<bigint>'), ('note', 'string'),
                                ('business_date', 'date'), ('load_id', 'string'), ('operation', 'string')]
            if (name != 'ignored_hash' or entity.ignored) and (name != 'event_position' or entity.events) -%}
        {%- do columns.append({'name': name, 'sql': name, 'data_type': data_type}) -%}
    {%- endfor -%}
    {{ return(spark_cdc._placed_columns(columns, layout)) }}
{%- endmacro -%}


{#- What a row carries whatever becomes of it: the stored columns and the hashes. -#}
{%- macro _payload(entity, qualifier=none) -%}
    {%- set names = entity.stored | map(attribute='sql') | list + ['key_hash', 'nonkey_hash']
            + (['ignored_hash'] if entity.ignored else []) -%}
    {%- if qualifier is none -%}{{ return(names) }}{%- endif -%}
    {%- set qualified = [] -%}
    {%- for name in names -%}{%- do qualified.append(qualifier ~ '.' ~ name) -%}{%- endfor -%}
    {{ return(qualified) }}
{%- endmacro -%}


{#- The partition of a load's rows; the operation follows it. -#}
{%- macro _partition(load) -%}
    {{- "date'" ~ load.business_time[:10] ~ "' as business_date,\n    '" ~ load.load_id ~ "' as load_id" -}}
{%- endmacro -%}


{#- When a load begins, as a literal. -#}
{%- macro _load_start(entity, load) -%}
    {{ return(entity.eff_type ~ "'" ~ load.business_time ~ "'") }}
{%- endmacro -%}


{%- macro _tag_first_sql(entity, load, incoming) -%}
{%- set inserted = "when is_deleted then 'T' else 'I'" if entity.deleted_when else "else 'I'" -%}
-- the first load: there is no state before it
select
    {{ spark_cdc._payload(entity) | join(',\n    ') }},
    {{ spark_cdc._load_start(entity, load) }} as eff_start_date,
    note,
    {{ spark_cdc._partition(load) }},
    case when note is not null then 'R' {{ inserted }} end as operation
from {{ incoming }}
{%- endmacro -%}


{%- macro _in_loads(loads) -%}
    {%- if loads | length == 1 -%}{{ return("load_id = '" ~ loads[0] ~ "'") }}{%- endif -%}
    {{ return("load_id in ('" ~ loads | join("', '") ~ "')") }}
{%- endmacro -%}


{#- The whole state before a load. -#}
{%- macro _prior_sql(entity, load, ledger, broadcast, more=[]) -%}
    {{ return(spark_cdc.state_sql(
        ledger, spark_cdc._in_loads([load.base]), spark_cdc._in_loads(load.log) if load.log else none,
        spark_cdc._payload(entity) + ['eff_start_date'] + more, broadcast
    )) }}
{%- endmacro -%}


{%- macro _tag_full_sql(entity, load, incoming, ledger, broadcast) -%}
with prior as (
    {{ spark_cdc._prior_sql(entity, load, ledger, broadcast) | indent(4) }}
),

compared as (
    {{ spark_cdc._compared_sql(entity, incoming, load.prior_rows <= entity.checkpoint.rows) | indent(4) }}
),

tagged as (
    {{ spark_cdc._tagged_sql(entity, load, 'compared') | indent(4) }}
    {%- if not load.is_checkpoint %}
    where operation <> 'N'{{ ' or ignored_differs' if entity.ignored }}
    {%- endif %}
),

deleted as (
    select
        {{ spark_cdc._kept_row(entity, load, 'prior', 'D', spark_cdc._load_start(entity, load)) | indent(8) }}
    from prior
    left anti join {{ incoming }} as incoming
        on prior.key_hash = incoming.key_hash
)

select * from tagged
union all
select * from deleted
{%- endmacro -%}


{%- macro _tag_delta_sql(entity, load, incoming, ledger, broadcast) -%}
with prior as (
    {{ spark_cdc._prior_of_sql(load, incoming, ledger,
        ['key_hash', 'nonkey_hash'] + (['ignored_hash'] if entity.ignored else []) + ['eff_start_date']) | indent(4) }}
),

compared as (
    {{ spark_cdc._compared_sql(entity, incoming) | indent(4) }}
),

tagged as (
    {{ spark_cdc._tagged_sql(entity, load, 'compared') | indent(4) }}
    {%- if entity.deleted_when %}
    where operation <> 'D'
    {%- endif %}
)
{%- if entity.deleted_when %},

deleted as (
    {{ spark_cdc._deleted_sql(entity, load, incoming, ledger) | indent(4) }}
)
{%- endif %}
{%- if load.is_checkpoint %},

carried_over as (
    {{ spark_cdc._carried_over_sql(entity, load, incoming, ledger, broadcast) | indent(4) }}
)
{%- endif %}

select * from tagged
{%- if entity.deleted_when %}
union all
select * from deleted
{%- endif %}
{%- if load.is_checkpoint %}
union all
select * from carried_over
{%- endif %}
{%- endmacro -%}


{#- Each incoming row beside the hashes of its key's prior row. Where the prior hashes are few enough to be broadcast,
    the payload that came in stays where it was read. -#}
{%- macro _compared_sql(entity, incoming, broadcast_prior=false) -%}
select{{ ' /*+ broadcast(prior) */' if broadcast_prior }}
    incoming.*,
    case
        when incoming.note is not null then 'R'
        {%- if entity.deleted_when %}
        when incoming.is_deleted and prior.key_hash is null then 'T'
        when incoming.is_deleted then 'D'
        {%- endif %}
        when prior.key_hash is null then 'I'
        when incoming.nonkey_hash <> prior.nonkey_hash then 'U'
        else 'N'
    end as operation,
    {%- if entity.ignored %}
    not incoming.ignored_hash <=> prior.ignored_hash as ignored_differs,
    {%- endif %}
    prior.eff_start_date
from {{ incoming }} as incoming
left join prior
    on incoming.key_hash = prior.key_hash
{%- endmacro -%}


{%- macro _tagged_sql(entity, load, compared) -%}
select
    {{ spark_cdc._payload(entity) | join(',\n    ') }},
    if(operation = 'N', eff_start_date, {{ spark_cdc._load_start(entity, load) }}) as eff_start_date,
    note,
    {{ spark_cdc._partition(load) }},
    operation
from {{ compared }}
{%- endmacro -%}


{#- The prior rows of the keys that came in. They are few, so only these are ranked, and the ledger's rows meet the
    incoming keys first: no row of a big ledger is shuffled. -#}
{%- macro _prior_of_sql(load, incoming, ledger, columns, condition=none) -%}
{{ spark_cdc._newest_sql(
    ledger,
    spark_cdc._in_loads([load.base] + load.log) ~ '\nand key_hash in (select key_hash from ' ~ incoming
    ~ (' where ' ~ condition if condition else '') ~ ')',
    columns
) }}
{%- endmacro -%}


{#- The rows that a delta deletes, as they were. The payload is read in a pass of its own, which Spark leaves out
    where nothing is flagged. A key that is flagged twice shows up twice, so that the audit finds it. -#}
{%- macro _deleted_sql(entity, load, incoming, ledger) -%}
select
    {{ spark_cdc._kept_row(entity, load, 'prior', 'D', spark_cdc._load_start(entity, load)) | indent(4) }}
from {{ incoming }} as incoming
inner join (
    {{ spark_cdc._prior_of_sql(load, incoming, ledger, spark_cdc._payload(entity), 'is_deleted') | indent(4) }}
) as prior
    on incoming.key_hash = prior.key_hash
where incoming.is_deleted{{ ' and incoming.note is null' if entity.quarantine }}
{%- endmacro -%}


{%- macro _carried_over_sql(entity, load, incoming, ledger, broadcast) -%}
select
    {{ spark_cdc._kept_row(entity, load, 'carried', 'X') | indent(4) }}
from (
    {{ spark_cdc._prior_sql(entity, load, ledger, broadcast) | indent(4) }}
) as carried
left anti join {{ ('(select key_hash from ' ~ incoming ~ ' where note is null)') if entity.quarantine else incoming }} as incoming
    on carried.key_hash = incoming.key_hash
{%- endmacro -%}
