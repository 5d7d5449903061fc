{#- Whether this run loads a full snapshot of a source that numbers its events anew: positions of loads before it do not count. Who lifts late_share for a
    full snapshot says so. -#}
{%- macro _is_restart(entity) -%}
    {{ return((entity.events and entity.events.get('snapshot') or false) and spark_cdc._is_lifted(entity.name, 'late_share')) }}
{%- endmacro -%}
