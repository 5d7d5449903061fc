{#- How many rows of loads break which rule, told from the notes that the ledger keeps: rows as _load_counts() takes them, whose note is JSON from a rule's
    name to a number; under an empty name how many rows were set aside by rules. Nothing where the entity has no rules. -#}
{%- macro _rule_counts_sql(entity, ledger, loads) -%}
{%- if entity.rules and loads -%}
select
    load_id,
    'rules' as operation,
    0 as row_count,
    to_json(map_from_entries(collect_list(struct(rule, row_count)))) as note
from (
    select
        load_id,
        rule,
        count(*) as row_count
    from (
        select
            load_id,
            explode(if(
                operation = 'R',
                array_append(from_json(get_json_object(note, '$.rules'), 'array<string>'), ''),
                split(note, ',')
            )) as rule
        from {{ ledger }}
        where
            {{ spark_cdc._in_loads(loads) }}
            and operation in {{ spark_cdc._operations('judged') }}
            and note is not null
    ) as named
    group by load_id, rule
) as counted
group by load_id
{%- endif -%}
{%- endmacro -%}


{#- What rules said of a load: a list of dictionaries rule, action, judged (rows), broken (rows). Rows that are gone, and rejected ones that no rule has seen,
    are not judged. Arguments: entity, counts (of _figures_of_load()), broken (of _load_counts(); none counts as nobody). -#}
{%- macro _rule_counts_of_load(entity, counts, broken) -%}
    {%- set broken, results = broken or {}, [] -%}
    {%- set judged = counts.I + counts.U + counts.N + broken.get('', 0) -%}
    {%- for rule in entity.rules -%}
        {%- do results.append({'rule': rule.name, 'action': rule.action, 'judged': judged, 'broken': broken.get(rule.name, 0)}) -%}
    {%- endfor -%}
    {{ return(results) }}
{%- endmacro -%}
