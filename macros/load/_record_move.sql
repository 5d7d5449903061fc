{#- Adds an undo or redo to cdc_loads, as a row of its own: those of the loads stay as they are. Arguments: capture, manifest (with move, see
    _move_heads()), now (whether it was committed just now). -#}
{%- macro _record_move(capture, manifest, now=false) -%}
    {%- set entity, move = capture.entity, manifest.move -%}
    {%- set is_undo = spark_cdc._move_command(move) == 'undo' -%}
    {%- set load = {
        'load_id': move.load_id,
        'load_type': 'undo' if is_undo else 'redo',
        'business_time': spark_cdc._load_time_text(entity, move.load_id),
        'is_checkpoint': false,
        'parent': manifest.loads | last | default(none),
        'replaced': move.loads if is_undo else [],
        'status': 'undone' if is_undo else 'redone',
        'message': ('took back ' if is_undo else 'brought back ') ~ move.loads | join(', '),
    } -%}
    {%- set figures = {'rows_prior': move.rows_prior, 'rows_current': manifest.rows, 'record': {'started_at': move.at}} -%}
    {%- do spark_cdc._record_load(capture.load_log, entity, load, figures, now) -%}
{%- endmacro -%}
