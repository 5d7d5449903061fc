{#- The columns of a row of the prior state that a load of rows writes once more: carried over, held, or as its last payload.
    Arguments: run, row (what the prior rows are called), operation, start (eff_start_date as SQL; none keeps the row's). -#}
{%- macro _kept_row(run, row, operation, start=none) -%}
{{ row }}.{{ spark_cdc._payload(run.entity) | join(',\n' ~ row ~ '.') }},
{{ start ~ ' as eff_start_date' if start else row ~ '.eff_start_date' }},
cast(null as string) as note,
{{ spark_cdc._partition(run.load) }},
'{{ operation }}' as operation
{%- endmacro -%}
