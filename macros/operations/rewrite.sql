{#- Loads that are written anew beside those that are there (erase, compact, fill): written, and
    counted before a commit shows them. -#}


{#- Writes loads from rows that are there. Arguments: ctx, which (ledger or public: of these two
    tables the one that is written), loads (their names), columns (of the table, in its order),
    records (of the loads, of which each proves that its write was whole), rows (query), order (of
    _cluster_order(), or none), row_count (about how many rows, for the size of the files; none: as
    they come). -#}
{%- macro _write_anew(ctx, which, loads, columns, records, rows, order=none, row_count=none) -%}
    {%- do spark_cdc._set_session(ctx.write[which]) -%}
    {%- if row_count is not none -%}{%- do spark_cdc._set_file_size(row_count) -%}{%- endif -%}
    {%- do spark_cdc._send(spark_cdc._write_loads_sql(ctx.write[which], columns, records, rows, spark_cdc._in_loads(loads), order)) -%}
    {%- if row_count is not none -%}{%- do spark_cdc._set_file_size() -%}{%- endif -%}
{%- endmacro -%}


{#- Refuses the commit unless what was written is what was there. Arguments: ctx; counted (of
    _load_counts(), with _masked_ledger_differences_sql()); wanted (load to operation to rows);
    problems (what else was found); known (what holds although nothing was committed) and then
    (what to do after the advice), both as ends of sentences. -#}
{%- macro _audit_anew(ctx, counted, wanted, problems=[], known='', then='') -%}
    {%- set found = [] -%}
    {%- for load_id, rows in wanted.items() -%}
        {%- set written = counted.rows.get(load_id, {}) -%}
        {%- for operation in (rows | list + written | list) | unique if written.get(operation, 0) != rows.get(operation, 0) -%}
            {%- do found.append(load_id ~ ' has ' ~ written.get(operation, 0) ~ ' rows ' ~ operation ~ ' instead of ' ~ rows.get(operation, 0)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if counted.also.get('masked', 0) | int -%}{%- do found.append(ctx.public ~ ' does not have the rows of ' ~ ctx.ledger) -%}{%- endif -%}
    {%- do found.extend(problems) -%}
    {%- if found -%}
        {%- set message -%}
{{ ctx.entity.name }}: what was written anew is not what was there: {{ found | join('; ') }}. Nothing was committed and readers see what they saw before{{ known }}. {# -#}
Run spark-cdc verify --select {{ ctx.entity.name }} to find out what is wrong with the ledger{{ then }}.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
{%- endmacro -%}
