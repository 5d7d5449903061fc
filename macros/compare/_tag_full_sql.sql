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
