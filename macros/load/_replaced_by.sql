{#- The loads of which others took the place, for cdc_loads; those that compact squashed count as they did. Argument: loads (of _plan_load(), or their records). -#}
{%- macro _replaced_by(loads) -%}
    {%- set found = [] -%}
    {%- for load in loads if load.load_type != 'compact' -%}{%- do found.extend(load.get('replaced') or []) -%}{%- endfor -%}
    {{ return(found | unique | list) }}
{%- endmacro -%}
