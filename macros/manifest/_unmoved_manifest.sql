{#- A manifest without what undo and redo keep in it: what they did last, and what redo could bring back. -#}
{%- macro _unmoved_manifest(manifest) -%}{{ return(dict(manifest.items() | rejectattr(0, 'in', ['undone', 'move']))) }}{%- endmacro -%}
