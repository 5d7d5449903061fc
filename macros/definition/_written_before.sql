{#- Whether a row was first written by a load before a point in time, as a condition: by the row's own business date or start, so that it holds
    too where rows of the history were gathered under another load's name. Events are never gathered. -#}
{%- macro _written_before(since, events=false) -%}
    {%- set date = since[:4] ~ '-' ~ since[4:6] ~ '-' ~ since[6:8] -%}
    {%- if events -%}
load_id < '{{ since }}'
    {%- elif 'T' not in since -%}
business_date < date'{{ date }}'
    {%- else -%}
        {%- set start = "timestamp_ntz'" ~ date ~ ' ' ~ since[9:11] ~ ':' ~ since[11:13] ~ ':' ~ since[13:15] ~ "'" -%}
if(operation in {{ spark_cdc._operations('changes') }}, eff_start_date < {{ start }}, load_id < '{{ since }}')
    {%- endif -%}
{%- endmacro -%}
