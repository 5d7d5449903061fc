{#- The command that made a move (see _move_heads()): undo or redo. -#}
{%- macro _move_command(move) -%}{{ return('undo' if move.load_id.split('-')[1] == 'u' else 'redo') }}{%- endmacro -%}
