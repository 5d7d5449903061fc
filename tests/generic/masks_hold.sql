{#- What everybody may read of an entity has no value of its sensitive columns: the masked ledger
    has the rows of the ledger that lies apart, each as its masks make it, and nothing is left of
    loads or events from before its columns were sensitive. An entity without such columns passes.
    All of both ledgers is read. On <entity>_committed; columns as of _verified(). -#}
{%- test masks_hold(model) -%}
{{- config(tags=['spark_cdc_verify']) -}}
{%- set verified = spark_cdc._verified(model) -%}
{%- if verified.loads and verified.entity.sensitive -%}
{%- do spark_cdc._read_despite_damage() -%}
{%- set entity = verified.entity -%}
{%- set columns = spark_cdc._ledger_columns(entity, verified.layout) -%}
with {{ spark_cdc._verified_records(verified) }},

expected as (
    select
        {{ spark_cdc._masked_columns(entity, columns, "operation = 'R'") | join(',\n') | indent(8) }}
    from {{ verified.ledger }}
    where {{ spark_cdc._in_loads(verified.loads) }}
),

compared as (
    select
        load_id,
        operation,
        count_if(not is_shown) as expected_rows,
        count_if(is_shown) as shown_rows,
        bit_xor(row_hash) as difference
    from (
        {%- for relation in ['expected', verified.public] %}
        select
            load_id,
            operation,
            {{ 'false' if loop.first else 'true' }} as is_shown,
            xxhash64(to_json(struct({{ columns | map(attribute='at_sql') | join(', ') }}))) as row_hash
        from {{ relation }}
        {%- if not loop.first %}
        where {{ spark_cdc._in_loads(verified.loads) }}
        {%- endif %}
        {{- '\n\n        union all\n' if loop.first }}
        {%- endfor %}
    ) as both_ledgers
    group by load_id, operation
),

found as (
    {{ spark_cdc._verified_list(spark_cdc._verified_leftovers(verified)) | indent(4) }}

    union all

    select
        format_string(
            '{{ verified.public }} has %s rows %s of the load that are not what the masks make of the %s of {{ verified.ledger }}',
            shown_rows, operation, expected_rows
        ) as problem,
        load_id,
        '%s' as repair,
        null as examples
    from compared
    where expected_rows <> shown_rows or difference <> 0
)

{{ spark_cdc._verified_findings(verified, examples='found.examples') }}
{%- else -%}
{{ spark_cdc._verified_nothing() }}
{%- endif -%}
{%- endtest -%}
