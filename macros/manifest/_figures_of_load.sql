{#- What _audit_load() found when the load was committed, from the rows per operation that it wrote. -#}
{%- macro _figures_of_load(load_id, written, rows_prior) -%}
    {%- set counts = {'I': 0, 'U': 0, 'D': 0, 'N': 0, 'X': 0, 'R': 0, 'T': 0} -%}
    {%- do counts.update(written) -%}
    {%- if spark_cdc._is_history(load_id) -%}  {#- the changes of several loads, in which a key may come often -#}
        {{ return({'counts': counts, 'rows_in': counts.I + counts.U + counts.D, 'rows_prior': rows_prior,
            'rows_current': rows_prior + counts.I - counts.D}) }}
    {%- elif spark_cdc._is_full(load_id) -%}
        {%- do counts.update({'N': rows_prior - counts.U - counts.D - counts.X}) -%}
    {%- else -%}
        {%- do counts.update({'X': rows_prior - counts.U - counts.N - counts.D}) -%}
    {%- endif -%}
    {{ return({
        'counts': counts,
        'rows_in': counts.I + counts.U + counts.N + counts.R
                   + (0 if spark_cdc._is_full(load_id) else counts.D + counts['T']),
        'rows_prior': rows_prior,
        'rows_current': rows_prior + counts.I - counts.D,
    }) }}
{%- endmacro -%}
