{#- What is outstanding of an entity. Dates before the last committed load are gaps, which take a replay; dates that undo took back wait for a person, and
    so does what comes after them, since a later load would drop what redo brings back.
    Arguments: capture, head (manifest that readers see), landed (of _landed_times()). Returns a dictionary: entity, load_type, per, priority,
    expect (of its YAML), last (committed date, or none), landed (number of dates), outstanding, gaps, undone (lists of dates, as texts), problem
    (why what has landed can't be told, or none), absent (why nothing has, if that is no idleness, or none), reads_feed (whether the source is the change feed of a table, which has no dates of its own). -#}
{%- macro _outstanding_of(capture, head, landed) -%}
    {%- set entity = capture.entity -%}
    {%- set squashed = spark_cdc._loads_with(head.loads, 'is_squashed') -%}
    {#- which dates compact has squashed is not asked: there are no gaps to be told of among them -#}
    {%- set from = spark_cdc._load_time(squashed[-1]) if squashed else none -%}
    {%- set last = spark_cdc._load_time(head.loads[-1]) if head.loads else none -%}
    {%- set committed = spark_cdc._load_times(entity, head.loads) -%}
    {%- set outstanding, gaps = [], [] -%}
    {%- for time in landed.times -%}
        {%- set text = spark_cdc._time_text(entity, time) -%}
        {%- if last is none or time > last -%}
            {%- do outstanding.append(text) -%}
        {%- elif text not in committed and (from is none or time > from) -%}
            {%- do gaps.append(text) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return({
        'entity': entity.name,
        'load_type': entity.load_type,
        'per': 'date' if entity.eff_type == 'date' else 'timestamp',
        'priority': entity.priority,
        'expect': entity.expect,
        'last': spark_cdc._time_text(entity, last) if last else none,
        'landed': landed.times | length,
        'outstanding': outstanding,
        'gaps': gaps,
        'undone': spark_cdc._load_times(entity, head.get('undone', []) | map(attribute='loads') | sum(start=[])),
        'problem': landed.problem,
        'absent': landed.absent,
        'reads_feed': entity.source.format == 'change_feed',
    }) }}
{%- endmacro -%}
