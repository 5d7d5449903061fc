{#- How many rows a state has, and how many were written since its checkpoint, told from the rows per load and operation.
    Arguments: rows (load id to operation to rows), base (checkpoint, or none), log (loads since). Returns a dictionary: rows,
    log_rows. -#}
{%- macro _figures_of_state(rows, base, log) -%}
    {%- set figures = {'rows': 0, 'log_rows': 0} -%}
    {%- for operation, count in rows.get(base, {}).items() if operation in spark_cdc._operations('existing') -%}
        {%- do figures.update({'rows': figures.rows + count}) -%}
    {%- endfor -%}
    {%- for load_id in log -%}
        {%- for operation, count in rows.get(load_id, {}).items() if operation in spark_cdc._operations('visible') -%}
            {%- do figures.update({
                'rows': figures.rows + {'I': 1, 'D': -1}.get(operation, 0) * count,
                'log_rows': figures.log_rows + count,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(figures) }}
{%- endmacro -%}
