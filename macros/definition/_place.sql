{#- Where a column is, given its name. -#}
{%- macro _place(layout, column) -%}
    {{ return((layout.get('columns') or {}).get(column.name | lower) or {'at': column.name}) }}
{%- endmacro -%}


{#- What a place holds, whichever load wrote the row: an expression over the ledger's columns, or those of <entity>_events. Arguments: place,
    events (whether it is the latter), prefix (of the physical names: old__ for the former keys there). -#}
{%- macro _place_sql(place, events=false, prefix='') -%}
    {%- set own = spark_cdc._quote(prefix ~ place.at) -%}
    {%- if place.get('was') -%}
coalesce({{ own }}, {{ place.convert | replace('raw__value', spark_cdc._place_sql(place.was, events, prefix)) }})
    {%- elif place.get('default') -%}
if({{ spark_cdc._written_before(place.since, events) }}, {{ place.default }}, {{ own }})
    {%- else -%}
{{ own }}
    {%- endif -%}
{%- endmacro -%}
