{#- The stored hashes are those of the stored values, computed anew on a sample, so that the test
    costs the same on a table of any size. Nothing is compared where values are masked, of a
    sensitive key that was erased, and while no load has brought the columns of the YAML. Without
    its secret each row of an entity fails. Of rows without a key nonkey_hash is compared alone.
    Arguments: sample (rows; 0 for all). -#}
{%- test hashes_match(model, sample=1000) -%}
{%- if execute -%}  {#- at parse time the model has no name yet -#}
{%- set entity = spark_cdc._entity(spark_cdc._strip_entity_affix(model.identifier)) -%}
{%- set is_masked = entity.sensitive and not model.identifier.endswith('_sensitive') -%}
{%- set secret = spark_cdc._secret_of(entity.sensitive) -%}
{%- set is_behind = spark_cdc._behind_last_load(entity) -%}
{%- if is_masked or is_behind %}
select *
from {{ model }}
where false  -- {{ 'what hashes were made of is shown by ' ~ entity.name ~ '_current_sensitive alone' if is_masked else is_behind ~ ' so nothing is compared' }}
{%- elif secret is not none and spark_cdc._secret_is_missing(secret) %}
select *
from {{ model }}
{%- if sample %}
limit {{ sample }}
{%- endif %}
{%- else %}
with sampled as (
    select *
    from {{ model }}
    {%- if sample %}
    limit {{ sample }}
    {%- endif %}
),

recomputed as (
    select
        {% for column in entity.key_columns if not column.sensitive -%}
        {{ column.sql }},
        {% endfor -%}
        key_hash,
        nonkey_hash,
        {{ spark_cdc._hex(spark_cdc._hash(entity.key_columns) | indent(8)) if entity.key_columns else 'key_hash' }} as key_hash_now,
        {{ spark_cdc._hex(spark_cdc._hash(entity.compared) | indent(8)) }} as nonkey_hash_now
    from sampled
)

select *
from recomputed
where {{ spark_cdc._but_erased_sql(entity, 'not (key_hash <=> key_hash_now and nonkey_hash <=> nonkey_hash_now)') }}
{%- endif -%}
{%- endif -%}
{%- endtest -%}
