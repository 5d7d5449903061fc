{#- The model <entity>_rejects: rows that loads set aside since they could not be accepted. -#}
{%- macro rejects() -%}
    {{ return(spark_cdc._view_query(spark_cdc._rejects_sql, 'ledger')) }}
{%- endmacro -%}


{#- The model <entity>_quality: what the entity's rules found in each load that counts. -#}
{%- macro quality() -%}
    {{- config(materialized='cdc_view', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set committed = spark_cdc._unsampled(ref(name ~ '_committed')) -%}
    {%- set load_log = spark_cdc._unsampled(ref('cdc_loads')) -%}
    {{ return(spark_cdc._quality_sql(name, load_log, committed)) }}
{%- endmacro -%}


{#- The rejected rows of the loads that count, as SQL. A load that takes the place of another takes
    its rejects away.
    Arguments: entity, ledger (relation or CTE with the ledger's columns), committed (relation or
    CTE with the columns of _committed_sql()), layout (of the manifest: where the ledger holds which
    column).
    Returns a query: the key columns as far as they could be read, key_hash (null if they could
    not), rejected_columns, rejected_rules (where the entity has rules: names of those that the row
    breaks), rejected_reason, rejected_row (the row as it came in; of change events that a rule sets
    aside the row that the key would have had), business_date, load_id. -#}
{%- macro _rejects_sql(entity, ledger, committed, layout={}) -%}
{%- set is_message = entity.events and entity.events.is_message -%}
with rejected as (
    select
        *,
        from_json(get_json_object(cdc__note, '$.columns'), 'array<string>') as cdc__columns,
        from_json(get_json_object(cdc__note, '$.reasons'), 'array<string>') as cdc__reasons
    from {{ ledger }}
    where
        operation = 'R'
        and load_id in (select explode(coalesce(compacted_load_ids, array(load_id))) from {{ committed }} where operation = 'L')
)

select
    {% for column in entity.key_columns -%}
    {{ spark_cdc._aliased(spark_cdc._place_sql(spark_cdc._place(layout, column)), column.sql) }},
    {% endfor -%}
    {{ spark_cdc._hex('key_hash') }} as key_hash,
    array_join(cdc__columns, ', ') as rejected_columns,
    {%- if entity.rules %}
    array_join(from_json(get_json_object(cdc__note, '$.rules'), 'array<string>'), ', ') as rejected_rules,
    {%- endif %}
    array_join(cdc__reasons, '; ') as rejected_reason,
    coalesce(get_json_object(cdc__note, '$.text'), get_json_object(cdc__note, '{{ '$.row.message' if is_message else '$.row' }}')
        {{- ", get_json_object(cdc__note, '$.row')" if is_message }}) as rejected_row,
    business_date,
    load_id
from rejected
{%- endmacro -%}


{#- What rules found, as SQL: a row per load that counts and rule. While a load takes the place of
    another one, the row of that is marked as replaced, and may stand there twice, before readers
    see the new one.
    Arguments: name (of the entity), load_log (cdc_loads), committed (relation with the columns of
    _committed_sql()).
    Returns a query: rule, action, rows_judged, rows_broken, pass_rate (from 0 to 1; null where
    no row was judged), business_time, committed_at, load_id. -#}
{%- macro _quality_sql(name, load_log, committed) -%}
with found as (
    select distinct
        inline(rules),
        business_time,
        committed_at,
        load_id
    from {{ load_log }}
    where
        entity = {{ spark_cdc._literal(name) }}
        and status <> 'refused'
        and load_id in (select explode(coalesce(compacted_load_ids, array(load_id))) from {{ committed }} where operation = 'L')
)

select
    rule,
    action,
    judged as rows_judged,
    broken as rows_broken,
    1 - broken / nullif(judged, 0) as pass_rate,
    business_time,
    committed_at,
    load_id
from found
{%- endmacro -%}
