{#- Compares the rows that a load builds on, as footers count them, with what the loads before left behind, as the manifest says. Raises an error
    where somebody or something changed them: the load would build on the damage.
    Arguments: run, prior (of _figures_of_state()), known (figures of the load as far as they are known). -#}
{%- macro _check_prior(run, prior, known) -%}
    {%- set load, name = run.load, run.entity.name -%}
    {%- if load.base and (prior.rows, prior.log_rows) != (load.prior_rows, load.prior_log_rows) -%}
        {%- set message -%}
{{ name }}: the ledger is not as the load {{ load.parent }} left it: {{ load.prior_rows }} rows existed, {{ load.prior_log_rows }} were written {# -#}
since the checkpoint, but {{ prior.rows }} and {{ prior.log_rows }} are counted in {{ ([load.base] + load.log) | join(', ') }}. Files, partitions or {# -#}
{{ run.committed }} were changed by something else than loads. Nothing was committed, so that nothing builds on it; readers see the damage. {# -#}
Run spark-cdc verify --select {{ name }}, which says what it is and how to mend it, and then the same command again.
        {%- endset -%}
        {%- do spark_cdc._refuse_load(run.entity, 'damaged_ledger', message, load, known) -%}
    {%- endif -%}
{%- endmacro -%}
