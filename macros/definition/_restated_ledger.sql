{#- The rows of the ledger as they are under a new definition: columns where they are declared now, hashes computed anew. The load that brings
    the new definition compares with these, so that a row becomes U only if its values differ, and writes all of them as its checkpoint, so
    that no later load has to do so again.
    Arguments: entity (as it is declared now), ledger (relation), before (layout of the loads so far), diff (of _definition_diff()).
    Returns a query between brackets, with the ledger's columns but note. -#}
{%- macro _restated_ledger(entity, ledger, before, diff) -%}
{%- set technical = ['eff_start_date'] + (['event_position'] if entity.events else []) + ['business_date', 'load_id', 'operation'] -%}
(
    select
        {{ entity.stored | map(attribute='sql') | join(',\n        ') }},
        {% if diff.key == 'same' or not entity.key_columns -%}
        key_hash,
        {% else -%}
        {{ spark_cdc._hash(entity.key_columns) | indent(8) }} as key_hash,
        {% endif -%}
        {{ spark_cdc._hash(entity.compared) | indent(8) }} as nonkey_hash,
        {% if entity.ignored -%}
        {{ spark_cdc._hash(entity.ignored) | indent(8) }} as ignored_hash,
        {% endif -%}
        {{ technical | join(',\n        ') }}
    from (
        select
            {% for item in diff.columns -%}
            {{ spark_cdc._aliased(spark_cdc._former_sql(item, before), item.column.sql) }},
            {% endfor -%}
            key_hash,
            {{ technical | join(',\n            ') }}
        from {{ ledger }}
    ) as laid_out
    {%- if diff.key == 'other' and entity.events %}
    where operation <> 'T' or not ({{ spark_cdc._any_null(entity.key_columns) }})  -- a key that was never there has no other columns
    {%- endif %}
)
{%- endmacro -%}
