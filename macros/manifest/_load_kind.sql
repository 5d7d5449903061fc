{#- What a load's name says of it. Returns a dictionary: is_full, is_snapshot (full, among events), is_checkpoint, is_squashed (compact wrote it), is_history (it holds the
    history of the loads that compact squashed into it). -#}
{%- macro _load_kind(load_id) -%}
    {%- set kind = load_id.split('-')[1] -%}
    {{ return({
        'is_full': kind.startswith('f'),
        'is_snapshot': kind.startswith('s'),
        'is_checkpoint': kind.endswith('c'),
        'is_squashed': kind.startswith('h'),
        'is_history': kind == 'h',
    }) }}
{%- endmacro -%}
