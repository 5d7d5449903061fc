{#- See _tag_sql(). -#}
{%- macro _tag_full_sql(run, incoming) -%}
with prior as (
    {{ spark_cdc._prior_sql(run) | indent(4) }}
),

compared as (
    {{ spark_cdc._compared_sql(run.entity, incoming, run.load.prior_rows <= run.entity.checkpoint.rows) | indent(4) }}
),

tagged as (
    {{ spark_cdc._tagged_sql(run, 'compared') | indent(4) }}
    {%- if not run.load.is_checkpoint %}
    where operation <> 'N'{{ ' or ignored_differs' if run.entity.ignored }}
    {%- endif %}
),

deleted as (
    select
        {{ spark_cdc._kept_row(run, 'prior', 'D', spark_cdc._load_start(run)) | indent(8) }}
    from prior
    left anti join {{ incoming }} as incoming
        on prior.key_hash = incoming.key_hash
)

select * from tagged
union all
select * from deleted
{%- endmacro -%}
