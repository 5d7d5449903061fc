{#- The loads that hold something of the keys on the list, or of rejected rows in which one of the keys wanted stands: a dictionary from the load to the number of its
    rows. Arguments: capture, table (its ledger or events), sensitive (names of the physical columns that hold or held sensitive values), wanted (of _forget_wanted()), loads (names; none
    for all that lie there). -#}
{%- macro _forgotten_holders(capture, table, sensitive, wanted, loads=none) -%}
    {%- set entity, is_ledger = capture.entity, table == capture.ledger -%}
    {%- set found = adapter.get_columns_in_relation(table) | map(attribute='name') | list -%}
    {%- set left, old_left = [], [] -%}
    {%- for name in sensitive if name in found -%}{%- do left.append(spark_cdc._quote(name) ~ ' is not null') -%}{%- endfor -%}
    {%- for name in sensitive if 'old__' ~ name in found and not is_ledger -%}{%- do old_left.append(spark_cdc._quote('old__' ~ name) ~ ' is not null') -%}{%- endfor -%}
    {%- set rejected = "operation = 'R'" if is_ledger else 'note is not null' -%}
    {%- set where -%}
(forgotten__is_gone and ({{ (left + old_left) | join(' or ') }} or (({{ rejected }}) and {# -#}
coalesce(get_json_object(note, '$.reasons[0]'), '') <> '{{ spark_cdc._forgotten_text() }}')))
        {%- if old_left %} or (forgotten__is_old_gone and ({{ old_left | join(' or ') }})){% endif -%}
    {%- endset -%}
    {%- set rows -%}
select *
from {{ table }}
where {{ "operation <> 'L'" if is_ledger else 'true' }}{{ ' and ' ~ spark_cdc._in_loads(loads) if loads }}
    {%- endset -%}
    {%- set tokens = spark_cdc._forget_key_tokens(entity, wanted.layout, not is_ledger) -%}
    {%- set sql -%}
select
    load_id,
    count(*) as row_count
from (
    {{ spark_cdc._forgotten_rows_sql(entity, rows, [{'name': 'load_id', 'sql': 'load_id'}], rejected, tokens.of_key, tokens.of_old,
        spark_cdc._forget_wanted_in_text(rejected, wanted), where) | indent(4) }}
) as held
group by load_id
order by load_id
    {%- endset -%}
    {%- set holders = {} -%}
    {%- for row in spark_cdc._query(sql) -%}{%- do holders.update({row.load_id: row.row_count | int}) -%}{%- endfor -%}
    {{ return(holders) }}
{%- endmacro -%}
