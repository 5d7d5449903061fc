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
