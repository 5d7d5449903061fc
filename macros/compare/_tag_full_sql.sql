{#- See _tag_sql(). -#}
{%- macro _tag_full_sql(run, incoming) -%}
{%- set is_checkpoint = run.load.is_checkpoint -%}
{%- set asks_ignored = run.entity.ignored | length > 0 and not is_checkpoint -%}
with prior as (
    {{ spark_cdc._prior_sql(run) | indent(4) }}
),

compared as (
    {{ spark_cdc._compared_sql(run.entity, incoming, run.load.prior_rows <= run.entity.checkpoint.rows, asks_ignored) | indent(4) }}
),

tagged as (
    {{ spark_cdc._tagged_sql(run, 'compared', is_checkpoint or asks_ignored) | indent(4) }}
    {%- if not is_checkpoint %}
    where operation <> 'N'{{ ' or ignored_differs' if asks_ignored }}
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
