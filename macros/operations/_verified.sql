{#- What the data tests that verify an entity have in common: ledger_rows_consistent, files_match_manifest, views_match_ledger,
    log_matches_ledger, archive_complete (tests/generic). Each selects its findings with the same columns: entity, problem, load_id (where it
    began), business_time (of that load), row_count, examples, repair. What only the catalogue tells is read while the test is compiled. -#}


{#- What there is of the entity that a model belongs to. Arguments: model (the relation that is tested; neither it nor the ledger need be
    there). Returns a capture with ledger_node (dbt's), catalog (see _catalog_of()), manifest (an empty one where none can be
    read), loads (those that count), layout, rows (the ledger's under their declared names) and rows_shown (with sensitive columns masked); only loads, empty, where dbt parses or
    writes docs, and in a build that leaves such tests out. -#}
{%- macro _verified(model) -%}
    {%- if not execute or flags.WHICH == 'generate' or spark_cdc._verify_is_left_out() -%}{{ return({'loads': []}) }}{%- endif -%}
    {%- set capture = spark_cdc._captures('verify', spark_cdc._strip_entity_affix(model.identifier))[0] -%}
    {%- set catalog = spark_cdc._catalog_of(capture) -%}
    {%- set text = catalog.get(capture.committed.identifier, {}).get('text', '') -%}
    {%- set manifest = spark_cdc._empty_manifest() -%}
    {%- if capture.ledger.identifier in catalog and 'spark_cdc manifest:' in text -%}
        {%- set manifest = spark_cdc._parse_manifest(text, capture.committed) -%}
        {%- for table in [capture.ledger, capture.masked] | unique if table.identifier in catalog -%}{%- do spark_cdc._send('refresh table ' ~ table) -%}{%- endfor -%}
    {%- endif -%}
    {%- set layout = manifest.get('layout') or {} -%}
    {{ return(dict(
        capture,
        catalog=catalog,
        manifest=manifest,
        loads=manifest.loads,
        layout=layout,
        rows=spark_cdc._across_changes(capture.entity, capture.ledger, layout),
        rows_shown=spark_cdc._across_changes(capture.entity, capture.masked, layout),
    )) }}
{%- endmacro -%}


{#- A CTE: the loads that count, each with its kind (see _load_id()) and its neighbours. -#}
{%- macro _verified_loads(verified) -%}
loads as (
    select
        load_id,
        split_part(load_id, '-', 2) as kind,
        lag(load_id) over (order by load_id) as prior_load_id,
        min(if(load_id rlike '-[a-z]c-', load_id, null)) over (
            order by load_id rows between 1 following and unbounded following
        ) as next_checkpoint
    from (select explode(array('{{ verified.loads | join("', '") }}')) as load_id) as named
)
{%- endmacro -%}


{#- A CTE: what loads say of themselves. Arguments: verified (of _verified()), ledger (where it is read, if not from the ledger). -#}
{%- macro _verified_records(verified, ledger=none) -%}
records as (
    select
        load_id,
        count(*) as record_count,
        any_value(from_json(
            note,
            'load_id string, parent string, stands_for string, replaced array<string>, squashed array<string>, '
            || 'definition map<string, string>, events struct<event_count: bigint>'
        )) as record
    from {{ ledger or verified.ledger }}
    where
        {{ spark_cdc._in_loads(verified.loads) }}
        and operation = 'L'
    group by load_id
)
{%- endmacro -%}


{#- The business time of a load, told from its name, as SQL. -#}
{%- macro _verified_time(verified, load_id) -%}
{%- if verified.entity.eff_type == 'date' -%}
regexp_replace({{ load_id }}, '^(....)(..)(..).*', '$1-$2-$3')
{%- else -%}
regexp_replace(
    if({{ load_id }} like '________T%', {{ load_id }}, concat(left({{ load_id }}, 8), 'T000000')),
    '^(....)(..)(..)T(..)(..)(..).*',
    '$1-$2-$3 $4:$5:$6'
)
{%- endif -%}
{%- endmacro -%}


{#- What a test selects: its findings, from a CTE `found` with problem, load_id, repair (in which %s stands for a replay from the load on), and
    with row_count and examples if so told. Arguments: verified, is_of_loads (whether there is a CTE `records`), row_count, examples (SQL). -#}
{%- macro _verified_findings(verified, is_of_loads=true, row_count='null', examples='null') -%}
{%- set quote = '' if verified.entity.eff_type == 'date' else "\\'" -%}
select
    '{{ verified.entity.name }}' as entity,
    found.problem,
    found.load_id,
    {{ spark_cdc._verified_time(verified, 'found.load_id') | indent(4) }} as business_time,
    cast({{ row_count }} as bigint) as row_count,
    cast({{ examples }} as string) as examples,
    {%- if is_of_loads %}
    format_string(
        found.repair,
        format_string(
            'spark-cdc replay --from {{ quote }}%s{{ quote }} --select {{ verified.entity.name }}',
            {{ spark_cdc._verified_time(verified, 'coalesce(replays.first_load_id, found.load_id)') | indent(12) }}
        )
    ) as repair
from found
left join (
    {#- what compact squashed can be replayed only together #}
    select
        load_id,
        coalesce(
            get(record.squashed, 0), if(load_id like '%-hc-%', lag(get(record.squashed, 0)) over (order by load_id), load_id)
        ) as first_load_id
    from records
) as replays
    on found.load_id = replays.load_id
    {%- else %}
    found.repair
from found
    {%- endif %}
{%- endmacro -%}


{#- What a test selects where nothing is loaded yet. -#}
{%- macro _verified_nothing() -%}
select
    {%- for name in ['entity', 'problem', 'load_id', 'business_time', 'row_count', 'examples', 'repair'] %}
    cast(null as {{ 'bigint' if name == 'row_count' else 'string' }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
where false
{%- endmacro -%}


{#- Findings that were made while the test was compiled, as a query with the columns of `found`: problem, load_id, repair, examples.
    Arguments: findings (dictionaries: problem, repair, examples; load_id where it is that of one). -#}
{%- macro _verified_list(findings) -%}
select
    listed.problem,
    listed.load_id,
    listed.repair,
    listed.examples
from (
    values
    {%- for finding in findings %}
    ({{ spark_cdc._literal(finding.problem) }}, {{ spark_cdc._literal(finding.load_id) if finding.get('load_id') else 'null' }}, {# -#}
    {{ spark_cdc._literal(finding.repair) }}, {{ spark_cdc._literal(finding.get('examples', '')) }}),
    {%- endfor %}
    (null, cast(null as string), null, null)
) as listed (problem, load_id, repair, examples)
where listed.problem is not null
{%- endmacro -%}
