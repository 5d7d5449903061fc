{#- What a load reads: the entity's source, or of a table as it is now (archive_input: true) the
    input that was kept of the load that it replaces, as a temporary view. A replay reads nothing
    else, since the table has no rows of past dates.
    Arguments: ctx, load (of _plan_load()). Returns a relation or a name. -#}
{%- macro _input_of_load(ctx, load) -%}
    {%- set entity, is_replay = ctx.entity, spark_cdc._replay() is not none -%}
    {%- if not entity.archive_input or not (load.replaced or is_replay) or spark_cdc._is_reset(entity.name) -%}
        {{ return(spark_cdc._landing_source(entity)) }}
    {%- endif -%}
    {%- set found = spark_cdc._kept_input(ctx, load.replaced) if load.replaced else none -%}
    {%- if found is none and not is_replay -%}{{ return(spark_cdc._landing_source(entity)) }}{%- endif -%}
    {%- set problem -%}
        {%- if not load.replaced -%}
{{ load.business_time }} was never loaded, so that no input of it was kept. Leave the date out of the replay
        {%- elif found is none -%}
no input of {{ load.business_time }} was kept: archive_input was set after {{ load.replaced[-1] }}. Replay from a later date
        {%- elif found.rows_in is not none and found.rows_in != found.rows_kept -%}
{{ ctx.input }} has {{ found.rows_kept }} rows of {{ found.load_id }}, which read {{ found.rows_in }}. Restore its partition from a backup
        {%- endif -%}
    {%- endset -%}
    {%- if problem -%}{%- do exceptions.raise_compiler_error(entity.name ~ ': ' ~ problem ~ '. Nothing was written.') -%}{%- endif -%}
    {#- a column that was renamed since has the name that it has now -#}
    {%- set columns, declared = [], entity.columns | map(attribute='name') | map('lower') | list -%}
    {%- for column in entity.columns -%}
        {%- set names = [column.name | lower] + column.renamed_from | map('lower') | reject('in', declared) | list -%}
        {%- set matching = [] -%}
        {%- for name in names -%}{%- for kept in found.columns if kept.name | lower == name -%}{%- do matching.append(kept) -%}{%- endfor -%}{%- endfor -%}
        {%- if matching -%}{%- do columns.append(dict(matching[0], **{'from': column.from})) -%}{%- endif -%}
    {%- endfor -%}
    {%- do spark_cdc._send(spark_cdc._kept_view_sql(spark_cdc._kept_view(entity), ctx.input, found.load_id, columns)) -%}
    {{ return(spark_cdc._kept_view(entity)) }}
{%- endmacro -%}


{%- macro _kept_view(entity) -%}{{ return('kept_' ~ entity.name) }}{%- endmacro -%}


{#- The input that was kept of one of some loads. Each load has one row with `kept`, which says how
    its columns are stored; so an empty input is one, too. Returns a dictionary: load_id, columns
    (dictionaries: name, type, at), rows_kept and rows_in (that the load read, as cdc_loads has it;
    none where it has no such row); none where nothing was kept. -#}
{%- macro _kept_input(ctx, loads) -%}
    {%- if not spark_cdc._is_there(ctx.input) -%}{{ return(none) }}{%- endif -%}
    {%- set sql -%}
select
    load_id,
    max(kept) as kept,
    count(*) - count(kept) as rows_kept,
    {%- if spark_cdc._is_there(ctx.load_log) %}
    (
        select max(rows_in)
        from {{ ctx.load_log }}
        where entity = {{ spark_cdc._literal(ctx.entity.name) }} and {{ spark_cdc._in_loads(loads) }}
    ) as rows_in
    {%- else %}
    null as rows_in
    {%- endif %}
from {{ ctx.input }}
where {{ spark_cdc._in_loads(loads) }}
group by load_id
having count(kept) > 0
    {%- endset -%}
    {%- for row in spark_cdc._query(sql) -%}
        {{ return({
            'load_id': row.load_id, 'columns': fromjson(row.kept), 'rows_kept': row.rows_kept | int,
            'rows_in': none if row.rows_in is none else row.rows_in | int,
        }) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- A temporary view of a kept input, with the columns as the source names and types them.
    Arguments: view (its name), table, load_id, columns (dictionaries: from, type, at; none of a
    column without a type), more (further columns, as SQL). -#}
{%- macro _kept_view_sql(view, table, load_id, columns, more=[]) -%}
{%- set values = [] -%}
{%- for column in columns | unique(attribute='from') -%}
    {%- set at, name = spark_cdc._quote(column.at) if column.at else 'null', spark_cdc._quote(column.from) -%}
    {#- a table may store a type as a wider one, and texts of a fixed length are texts -#}
    {%- set is_text = not column.at or column.type.split('(')[0] in ['char', 'varchar'] -%}
    {%- do values.append((at if is_text else 'cast(' ~ at ~ ' as ' ~ column.type ~ ')') ~ ' as ' ~ name) -%}
{%- endfor -%}
create or replace temporary view {{ view }} as
select
    {{ (values + more) | join(',\n    ') }}
from {{ table }}
where load_id = '{{ load_id }}' and kept is null
{%- endmacro -%}


{#- The columns of <entity>_kept_input that a load writes, from the view that staging reads: each
    under its name and type, since a column of a source may have another type one day. -#}
{%- macro _kept_columns(entity) -%}
    {%- set types, columns = {}, [] -%}
    {%- for column in spark_cdc._describe(spark_cdc._landed_view(entity)) -%}{%- do types.update({column.col_name | lower: column.data_type}) -%}{%- endfor -%}
    {%- for column in entity.columns -%}
        {%- set found, letters = types[column.from | lower], [] -%}
        {#- describe leaves out the backticks of fields -#}
        {%- set is_declared = spark_cdc._plain_type_shown(found) == spark_cdc._plain_type_shown(column.data_type) -%}
        {%- set data_type = column.data_type if is_declared else found -%}
        {%- for letter in data_type | lower -%}
            {%- do letters.append(letter if letter in 'abcdefghijklmnopqrstuvwxyz0123456789' else '_') -%}
        {%- endfor -%}
        {%- set suffix = (letters | join).strip('_') if letters | length <= 30 else local_md5(data_type)[:8] -%}
        {%- do columns.append({'name': column.name, 'from': column.from, 'type': data_type,
            'at': none if data_type == 'void' else column.name ~ '__' ~ suffix}) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}
