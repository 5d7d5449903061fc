{#- See _tag_sql(). -#}
{%- macro _tag_delta_sql(run, incoming) -%}
{%- set entity = run.entity -%}
with prior as (
    {{ spark_cdc._prior_of_sql(run, incoming,
        ['key_hash', 'nonkey_hash'] + (['ignored_hash'] if entity.ignored else []) + ['eff_start_date']) | indent(4) }}
),

compared as (
    {{ spark_cdc._compared_sql(entity, incoming) | indent(4) }}
),

tagged as (
    {{ spark_cdc._tagged_sql(run, 'compared') | indent(4) }}
    {%- if entity.deleted_when %}
    where operation <> 'D'
    {%- endif %}
)
{%- if entity.deleted_when %},

-- the rows that a delta deletes, as they were: their payload is read in a pass of its own, which Spark leaves out where nothing is flagged
deleted as (
    select
        {{ spark_cdc._kept_row(run, 'prior', 'D', spark_cdc._load_start(run)) | indent(8) }}
    from {{ incoming }} as incoming
    inner join (
        {{ spark_cdc._prior_of_sql(run, incoming, spark_cdc._payload(entity), 'is_deleted') | indent(8) }}
    ) as prior
        on incoming.key_hash = prior.key_hash
    where incoming.is_deleted{{ ' and incoming.note is null' if entity.quarantine }}
)
{%- endif %}
{%- if run.load.is_checkpoint %},

carried_over as (
    select
        {{ spark_cdc._kept_row(run, 'carried', 'X') | indent(8) }}
    from (
        {{ spark_cdc._prior_sql(run) | indent(8) }}
    ) as carried
    left anti join {{ ('(select key_hash from ' ~ incoming ~ ' where note is null)') if entity.quarantine else incoming }} as incoming
        on carried.key_hash = incoming.key_hash
)
{%- endif %}

select * from tagged
{%- for name, wanted in [('deleted', entity.deleted_when), ('carried_over', run.load.is_checkpoint)] if wanted %}
union all
select * from {{ name }}
{%- endfor %}
{%- endmacro -%}
