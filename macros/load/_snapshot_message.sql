{#- What a full snapshot among loads of another type found, as cdc_loads tells it: how far what those led to had drifted from it. Arguments: entity, load,
    counts (operation to rows). Returns a text, or none of other loads. -#}
{%- macro _snapshot_message(entity, load, counts) -%}
    {%- if load.get('status') or load.load_type != 'full' or entity.declared_load_type == 'full' or load.parent is none or not counts -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set differing = counts.I + counts.U + counts.D -%}
    {%- set message -%}
the snapshot differed in {{ spark_cdc._counted(differing, 'row') }} from what the loads of type {{ entity.declared_load_type }} had led to
{%- if differing -%}
: {{ counts.I }} were missing, {{ counts.U }} had other values, {{ counts.D }} should not have been there
{%- endif -%}
    {%- endset -%}
    {{ return(message) }}
{%- endmacro -%}
