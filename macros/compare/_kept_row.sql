{#- The columns of a row of the prior state that this load writes once more: carried over, held, or as its last payload.
    Arguments: run, row (what the prior rows are called), operation, start (eff_start_date as SQL; none keeps the row's),
    position (the same of event_position, of change events). -#}
{%- macro _kept_row(run, row, operation, start=none, position=none) -%}
{{ spark_cdc._payload(run.entity, row) | join(',\n') }},
{{ start ~ ' as eff_start_date' if start else row ~ '.eff_start_date' }},
{% if run.entity.events -%}
{{ position ~ ' as event_position' if position else row ~ '.event_position' }},
{% endif -%}
cast(null as string) as note,
{{ spark_cdc._partition(run.load) }},
'{{ operation }}' as operation
{%- endmacro -%}
