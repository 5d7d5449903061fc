{#- The write of loads: their rows, and the record of each load itself, which proves that the write
    was whole.
    Arguments: ledger (that is written), columns (of the ledger, in its order), loads (their plans,
    which become the records; empty where a later statement writes the record), sql (query of the
    rows of all), where (of _overwrite_sql()), order (of _cluster_order(): how the rows lie in
    files; none: as they come). -#}
{%- macro _write_loads_sql(ledger, columns, loads, sql, where, order=none) -%}
{%- set partitions = ['business_date', 'load_id', 'operation'] -%}
{{ spark_cdc._overwrite_sql(ledger, where, partitions) }}
{% if order is none -%}
{{ spark_cdc._rows_and_records_sql(columns, loads, sql) }}
{%- else -%}
select
    {{ columns | map(attribute='at_sql') | join(',\n    ') }}
from (
    select /*+ repartition_by_range({{ partitions | join(', ') }}, cdc__cluster_order) */ *
    from (
        select
            *,
            {{ order }} as cdc__cluster_order
        from (
{{ spark_cdc._rows_and_records_sql(columns, loads, sql) }}
        ) as unordered
    ) as ordered
) as ranged
sort by {{ partitions | join(', ') }}, cdc__cluster_order
{%- endif -%}
{%- endmacro -%}


{#- The second write of a full load that writes what is gone apart (_deletes_separately()): the rows
    that are gone and the load's record, which tells how many unchanged rows the first write marked.
    The marks are dropped then, but for those of rows that broke a rule: a load without them is as
    any other. Each statement gives the same if it is sent twice.
    Arguments: ctx, load (its plan), columns (of the ledger, in its order). -#}
{%- macro _write_deleted(ctx, load, columns) -%}
    {%- set entity, ledger = ctx.entity, ctx.ledger -%}
    {%- set sql -%}
select
    operation,
    count(*) as row_count
from {{ ledger }}
where load_id = '{{ load.load_id }}'
group by operation
    {%- endset -%}
    {%- set rows = dict.fromkeys('IUNSWR', 0) -%}
    {%- for row in spark_cdc._query(sql) -%}{%- do rows.update({row.operation: row.row_count | int}) -%}{%- endfor -%}
    {%- set run = dict(
        ctx, load=load, prior=spark_cdc._laid_out(entity, ledger, load.layout), broadcast=spark_cdc._is_few(entity, load.prior_log_rows)) -%}
    {%- set deleted = spark_cdc._deleted_sql(run, rows.values() | sum, load.prior_rows - rows.U - rows.N - rows.S - rows.W) -%}
    {%- set where = spark_cdc._in_loads([load.load_id]) ~ " and operation in ('D', 'L')" -%}
    {%- do spark_cdc._send(spark_cdc._write_loads_sql(ctx.write.ledger, columns, [dict(load, unchanged=rows.S + rows.W)], deleted, where)) -%}
    {%- if rows.S -%}
        {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(
            ctx.write.ledger, ['business_date=' ~ load.business_time[:10] ~ '/load_id=' ~ load.load_id ~ '/operation=S'])) -%}
    {%- endif -%}
{%- endmacro -%}


{#- How the rows of a state are laid out in files, so that the minimum and maximum in each part of a
    file tell readers what they can skip: by the columns of `cluster_by`. One column is the order
    itself. Of several the values are ranked in steps of as many rows each, and the bits of the
    ranks interleaved: a Z-order, as in G. M. Morton, A Computer Oriented Geodetic Data Base, IBM
    1966, by rank as in Delta Lake's OPTIMIZE ZORDER.
    Arguments: entity, columns (of the ledger: _placed_columns()), table and loads (where the steps
    are counted, in a sample; no loads: order by the first column), rows (in those loads). Returns
    an expression over the ledger's columns, or none if the entity does not say. -#}
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


{#- The rank of a value as a number whose bits lie `stride` apart: a tree of comparisons with the
    steps, so that each row takes as many as there are bits.
    Arguments: column, steps (their lowest values, as texts), first (rank of what is below all of
    them), spread (stride, place of the lowest bit). -#}
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


{#- The write of rows into partitions that bear the load's name, which no other attempt has.
    Arguments: table (that is written), columns (of the table, in its order: _ensure_table(); one
    without a name is no longer declared), sql (query of rows with these columns under their
    declared names), where (of _overwrite_sql()), name (of that query). -#}
{%- macro _write_rows_sql(table, columns, sql, where, name='rows_of_load') -%}
{{ spark_cdc._overwrite_sql(table, where, spark_cdc._partition_names(table)) }}
{{ spark_cdc._written_rows_sql(columns, sql, name) }}
{%- endmacro -%}


{#- The rows with the table's columns in its order. -#}
{%- macro _written_rows_sql(columns, sql, name) -%}
select
    {%- for column in columns %}
    {{ spark_cdc._aliased('cast(null as ' ~ column.data_type ~ ')' if column.name is none else column.sql, column.at_sql) }}{{ ',' if not loop.last }}
    {%- endfor %}
from (
{{ sql }}
) as {{ name }}
{%- endmacro -%}


{#- The rows of loads, and the record of each load. Arguments as of _write_loads_sql(). -#}
{%- macro _rows_and_records_sql(columns, loads, sql) -%}
{{ spark_cdc._written_rows_sql(columns, sql, 'rows_of_loads') }}
{%- if loads %}

union all

select
    {%- set values = {'cdc__note': 'record', 'business_date': 'business_date', 'load_id': 'load_id', 'operation': "'L'"} -%}
    {%- for column in columns %}
    {{ spark_cdc._aliased(values.get(column.name, 'cast(null as ' ~ column.data_type ~ ')'), column.at_sql) }}{{ ',' if not loop.last }}
    {%- endfor %}
from values
    {%- for load in loads %}
    ({{ spark_cdc._literal(tojson(load)) }}, date'{{ load.business_time[:10] }}', '{{ load.load_id }}'){{ ',' if not loop.last }}
    {%- endfor %}
    as records (record, business_date, load_id)
{%- endif %}
{%- endmacro -%}


{#- Staged events, placed, with the partition of their load. -#}
{%- macro _event_rows_sql(entity, load, incoming) -%}
select
    {% for column in spark_cdc._event_columns(entity) -%}
    {{ column.sql }},
    {% endfor -%}
    {{ spark_cdc._partition(load) | indent(4) }}
from {{ spark_cdc._events_placed_sql(entity, load, incoming) }}
{%- endmacro -%}


{#- What a write needs of this session. Tables that an earlier version made lack the options that
    new ones have (see _create_table_sql()). Where rows are many, they meet by hash instead of being
    sorted where the hash maps are small, and no operators are fused into a method of more bytes
    than HotSpot compiles.
    Arguments: table (relation that is written, or none), is_small (whether what is read besides
    the state is a few files, and the state has few rows). -#}
{%- macro _set_session(table, is_small=false) -%}
    {%- if table is not none -%}{%- do spark_cdc._set_overwrite(table) -%}{%- endif -%}
    {%- if not is_small or table is not none and not spark_cdc._has_option(table, 'parquet.page.verify-checksum.enabled=true') -%}
        {#- of tables that are a source, too -#}
        {%- do spark_cdc._set('parquet.page.verify-checksum.enabled', 'true') -%}
    {%- endif -%}
    {%- if not is_small -%}
        {%- do spark_cdc._set('spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold', '128m') -%}
        {%- do spark_cdc._set('spark.sql.codegen.hugeMethodLimit', '8000') -%}
    {%- endif -%}
    {#- to compile code for a few rows takes longer than to interpret them; a session may have had
        such a load before a larger one, as in a replay -#}
    {%- set memo, settings = spark_cdc._memo(), {'spark.sql.codegen.wholeStage': 'false', 'spark.sql.codegen.factoryMode': 'NO_CODEGEN'} -%}
    {%- for setting, value in settings.items() if is_small or memo.get('interprets') -%}
        {%- do spark_cdc._set(setting, value if is_small else none) -%}
    {%- endfor -%}
    {%- do memo.update({'interprets': memo.get('interprets') or is_small}) -%}
{%- endmacro -%}


{#- What this session needs where its queries ask staging itself, through views, and not rows that
    were written down: else Spark's optimizer keeps of each expression over many columns (as a hash)
    every way to write it with the names that a view gives them (constraints,
    UnaryNode.getAllValidConstraints()), 2 to the number of columns, of which 15 keep it for
    hours. -#}
{%- macro _set_for_staging() -%}
    {%- do spark_cdc._set('spark.sql.constraintPropagation.enabled', 'false') -%}
{%- endmacro -%}


{#- Whether a load is so small that its time goes into planning and compiling statements: less
    than 1 MiB of files (of 4.6 MiB of CSV, 30,000 rows, interpreting takes as long as compiling;
    compressed files hold more) onto less than 100,000 rows.
    Arguments: load (its plan), files (of _input_files(); none where a table is read). -#}
{%- macro _is_small_load(load, files) -%}
    {{ return(files is not none and (files.bytes or 0) < 2 ** 20 and load.prior_rows < 10 ** 5) }}
{%- endmacro -%}


{#- Whether a business date is given of which no load counts.
    Arguments: ctx, manifest (of the last commit, where it is known). -#}
{%- macro _is_due(ctx, manifest=none) -%}
    {%- set time = spark_cdc._business_time_of(ctx.entity.name) -%}
    {%- if time is none -%}{{ return(false) }}{%- endif -%}
    {%- set loads = (manifest or spark_cdc._current_timeline(ctx)).loads -%}
    {{ return(not spark_cdc._loads_with(loads, 'time', 'equalto', time)) }}
{%- endmacro -%}


{#- Writes what everybody may read of loads: the partitions that they have in the ledger, with
    sensitive columns masked (docs/sensitive.md). To be called wherever the partitions of loads are
    complete, before they are audited. It gives the same if it is sent twice. Nothing for an entity
    without sensitive columns.
    Arguments: ctx, loads (names), load (the plan of the first, see _ensure_table()). -#}
{%- macro _write_masked_ledger(ctx, loads, load) -%}
    {%- if not ctx.entity.sensitive -%}{{ return('') }}{%- endif -%}
    {%- set columns = spark_cdc._ensure_table(ctx, 'public', load) -%}
    {%- do spark_cdc._set_overwrite(ctx.write.public) -%}
    {%- do spark_cdc._send(spark_cdc._masked_ledger_sql(ctx, columns, loads)) -%}
{%- endmacro -%}


{#- That statement. Argument: columns (of the masked ledger, in its order). -#}
{%- macro _masked_ledger_sql(ctx, columns, loads) -%}
{{ spark_cdc._overwrite_sql(ctx.write.public, spark_cdc._in_loads(loads), ['business_date', 'load_id', 'operation']) }}
select
    {{ spark_cdc._masked_columns(ctx.entity, columns, "operation = 'R'") | join(',\n') | indent(4) }}
from {{ ctx.ledger }}
where {{ spark_cdc._in_loads(loads) }}
{%- endmacro -%}


{#- In how many partitions of some loads the two ledgers do not have the same rows, told by their
    hashes: a row as of _input_sql(), or none for an entity without sensitive columns. -#}
{%- macro _masked_ledger_differences_sql(ctx, loads) -%}
    {%- if not ctx.entity.sensitive or spark_cdc._mode() == 'plan' -%}{{ return(none) }}{%- endif -%}
    {%- set sql -%}
select
    cast(null as string) as load_id,
    'masked' as operation,
    0 as row_count,
    cast(count(*) as string) as note
from (
    select
        load_id,
        operation
    from (
        {%- for table, side in [(ctx.ledger, 1), (ctx.public, -1)] %}
        select
            load_id,
            operation,
            {{ side }} as side,
            xxhash64(key_hash, nonkey_hash, eff_start_date, if(operation = 'R', null, cdc__note)) as row_hash
        from {{ table }}
        where {{ spark_cdc._in_loads(loads) }}
        {{- '\n\n        union all\n' if loop.first }}
        {%- endfor %}
    ) as both_ledgers
    group by load_id, operation
    having sum(side) <> 0 or bit_xor(row_hash) <> 0
) as differing
    {%- endset -%}
    {{ return(sql) }}
{%- endmacro -%}


{#- What is said where they do not.
    Argument: found (note of that row, or none).
    Returns a text, or none. -#}
{%- macro _masked_ledger_problem(ctx, found) -%}
    {%- if not found | int -%}{{ return(none) }}{%- endif -%}
    {%- set message -%}
{{ ctx.entity.name }}: {{ ctx.public }} does not have the rows of {{ ctx.ledger }}, without their sensitive values, in {# -#}
{{ spark_cdc._counted(found | int, 'partition') }} of what was written. Nothing was committed and readers see what they saw before. Run the same command again; if it {# -#}
comes again, report it.
    {%- endset -%}
    {{ return(message) }}
{%- endmacro -%}


{#- What the events of a load are like (see _event_summary()). Refuses the load where they are of
    several tables, and the entity's settings do not say which of them are its own.
    Arguments: run, events (of _event_summary()). -#}
{%- macro _checked_summary(run, events) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- set summary = spark_cdc._event_summary(run, events) -%}
    {%- set found = (summary.get('origins') or {}).get('table') -%}
    {%- set is_chosen = entity.events.get('table') is not none -%}
    {%- if not found or 'tables' in spark_cdc._skipped_guards(entity.name) or is_chosen and not summary.truncates -%}
        {{ return(summary) }}
    {%- endif -%}
    {%- set names = [] -%}
    {%- for name, event_count in found.items() -%}{%- do names.append(name ~ ' (' ~ spark_cdc._counted(event_count, 'event') ~ ')') -%}{%- endfor -%}
    {%- set before = load.applied.get('origin', {}).get('table') -%}
    {%- set message -%}
{{ entity.name }}: the events of {{ load.business_time }} are of {{ spark_cdc._counted(names | length, 'table') }}: {{ names[:5] | join(', ') }}{{ ', …' if names | length > 5 }}
{%- if before not in [none, '*'] %}; those of the loads before are of {{ before }}{% endif %}.
{%- if is_chosen %} A truncate of one of them would delete the rows of all. Nothing was committed and readers see what they saw before. Keep truncates out of the {# -#}
source, and load a full snapshot in their place. To delete all rows:
  {{ spark_cdc._skip_command(entity, load, ['tables']) }}
{%- else %} Nothing was committed and readers see what they saw before. Set events.table in the YAML of stg_{{ entity.name }} to the table of the entity, or to a list {# -#}
or a pattern such as orders_* where rows of several tables belong together, and run the same command again.
{%- endif -%}
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, 'tables', message, load) -%}
{%- endmacro -%}
