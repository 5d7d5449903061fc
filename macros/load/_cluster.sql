{#- How the rows of a state are laid out in files, so that the minimum and maximum in each part of a file tell readers what they can skip: by the columns of
    `cluster_by`. One column is the order itself. Of several the values are ranked in steps of as many rows each, and the bits of the ranks interleaved: a
    Z-order, as in G. M. Morton, A Computer Oriented Geodetic Data Base, IBM 1966, by rank as in Delta Lake's OPTIMIZE ZORDER.
    Arguments: entity, columns (of the ledger: _placed_columns()), table and loads (where the steps are counted, in a sample; no loads: order by
    the first column), rows (in those loads). Returns an expression over the ledger's columns, or none if the entity does not say. -#}
{%- macro _cluster_order(entity, columns, table, loads, rows) -%}
    {%- set chosen = [] -%}
    {%- for name in entity.cluster_by -%}
        {%- for column in columns if (column.name or '') | lower == name | lower -%}{%- do chosen.append(column) -%}{%- endfor -%}
    {%- endfor -%}
    {%- if not chosen -%}{{ return(none) }}{%- endif -%}
    {%- if chosen | length == 1 or not loads -%}{{ return(chosen[0].at_sql) }}{%- endif -%}
    {%- set bits = {2: 7, 3: 5, 4: 4}[chosen | length] -%}
    {%- set steps = {} -%}
    {%- for row in spark_cdc._query(spark_cdc._cluster_steps_sql(chosen, table, loads, rows, 2 ** bits)) -%}
        {%- do steps.setdefault(row.place | int, []).append(row.lowest) -%}
    {%- endfor -%}
    {%- set ranks = [] -%}
    {%- for column in chosen -%}
        {%- set spread = {'stride': chosen | length, 'place': chosen | length - loop.index} -%}
        {%- do ranks.append(spark_cdc._cluster_rank_sql(column, steps.get(loop.index0, []), 0, spread)) -%}
    {%- endfor -%}
    {{ return(ranks | join(' + ')) }}
{%- endmacro -%}


{#- The lowest value of each step but the first, of each column, in order. -#}
{%- macro _cluster_steps_sql(columns, table, loads, rows, steps) -%}
with sampled as (
    select
        {%- for column in columns %}
        {{ column.at_sql }} as value{{ loop.index0 }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ table }}
    where
        {{ spark_cdc._in_loads(loads) }}
        and operation in ('I', 'U', 'N', 'X')
        and pmod(xxhash64(key_hash), {{ [1, rows // 100000] | max }}) = 0
)
{% for column in columns %}
select
    {{ loop.index0 }} as place,
    step,
    cast(min(value) as string) as lowest
from (
    select
        value{{ loop.index0 }} as value,
        ntile({{ steps }}) over (order by value{{ loop.index0 }}) as step
    from sampled
    where value{{ loop.index0 }} is not null
) as stepped
where step > 1
group by step
{{ 'union all' if not loop.last }}
{% endfor -%}
order by place, step
{%- endmacro -%}


{#- The rank of a value as a number whose bits lie `stride` apart: a tree of comparisons with the steps, so that each row takes as many as there are bits.
    Arguments: column, steps (their lowest values, as texts), first (rank of what is below all of them), spread (stride, place of the lowest bit). -#}
{%- macro _cluster_rank_sql(column, steps, first, spread) -%}
    {%- if not steps -%}
        {%- set bits = namespace(sum=0) -%}
        {%- for bit in range(8) if (first // 2 ** bit) % 2 -%}
            {%- set bits.sum = bits.sum + 2 ** (bit * spread.stride + spread.place) -%}
        {%- endfor -%}
        {{ return(bits.sum | string) }}
    {%- endif -%}
    {%- set middle = steps | length // 2 -%}
    {{ return(
        'if(' ~ column.at_sql ~ ' < cast(' ~ spark_cdc._literal(steps[middle]) ~ ' as ' ~ column.data_type ~ '), '
        ~ spark_cdc._cluster_rank_sql(column, steps[:middle], first, spread) ~ ', '
        ~ spark_cdc._cluster_rank_sql(column, steps[middle + 1:], first + middle + 1, spread) ~ ')'
    ) }}
{%- endmacro -%}
