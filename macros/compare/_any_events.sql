{#- A summary under which resolving leaves nothing out. -#}
{%- macro _any_events() -%}
    {{ return({
        'event_count': 0, 'controls': 0, 'rejected': 1, 'unexpected': 0, 'late': 0, 'known': 0, 'late_apart': 0, 'unfilled': 0, 'reads': 0, 'last': none, 'deletes': true, 'partial': true,
        'moves': true, 'splits': true, 'alternates': false, 'late_possible': true, 'truncates': false, 'truncated': none,
        'highest': none, 'origin': {},
    }) }}
{%- endmacro -%}
