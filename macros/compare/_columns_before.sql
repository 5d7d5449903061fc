{#- Columns of the rows before a load: without their positions where these are of a numbering that has ended. -#}
{%- macro _columns_before(run, columns) -%}
    {%- set shown = [] -%}
    {%- for column in columns -%}
        {%- set ends = column == 'event_position' and run.load.get('restarts') -%}
        {%- do shown.append('cast(null as array<bigint>) as event_position' if ends else column) -%}
    {%- endfor -%}
    {{ return(shown) }}
{%- endmacro -%}
