{#- The manifest of an entity without its last loads, and what redo needs to bring these back. Arguments: capture, head (manifest), to (of
    undo()), interrupted (what an undo of several entities that was interrupted had in mind for this one: {from, to}; none). Returns a
    dictionary: problem (why it can't be, a text), or manifest and loads (that go). -#}
{%- macro _undone_manifest(capture, head, to, interrupted=none) -%}
    {%- set name = capture.entity.name -%}
    {%- if not head.loads -%}
        {{ return({'problem': name ~ ': nothing is committed, so there is nothing to undo.'}) }}
    {%- elif interrupted and head.loads[-1] != interrupted['from'] -%}
        {%- set problem -%}
{{ name }}: an undo of several entities was interrupted before it came to {{ name }}, of which {{ head.loads[-1] }} has been committed {# -#}
since. Undo each by itself with --to, or bring the others back with redo.
        {%- endset -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}
    {%- set found = spark_cdc._loads_up_to(capture, head.loads, interrupted.to if interrupted else to) -%}
    {%- if found.problem -%}
        {{ return({'problem': found.problem}) }}
    {%- elif found.loads == head.loads -%}
        {{ return({'problem': name ~ ': there is nothing to undo, the last load is ' ~ head.loads[-1] ~ ' itself.'}) }}
    {%- endif -%}
    {%- set cut = spark_cdc._manifest_up_to(capture, head, found.loads) -%}
    {%- set problem = spark_cdc._other_columns_problem(capture.entity, cut) if cut.loads else none -%}
    {%- if problem -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}
    {%- set figures = {} -%}
    {%- for figure in ['rows', 'log_rows', 'previous', 'definition', 'layout', 'applied'] if (head.get(figure) or none) != (cut.get(figure) or none) -%}
        {%- do figures.update({figure: head.get(figure)}) -%}
    {%- endfor -%}
    {%- set gone = head.loads[found.loads | length:] -%}
    {%- set step = {'loads': gone, 'at': spark_cdc._time_now(), 'figures': figures} -%}
    {{ return({'problem': none, 'manifest': dict(cut, undone=[step] + (head.get('undone') or [])), 'loads': gone}) }}
{%- endmacro -%}
