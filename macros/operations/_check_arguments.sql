{#- Refuses arguments of another type than an operation takes, before anything is looked at: --args '{execute: "false"}' is a text, which Jinja takes for true.
    Arguments: operation (name of the macro), given (argument to value). -#}
{%- macro _check_arguments(operation, given) -%}
    {%- set flag, number = {'kind': 'boolean'}, {'kind': 'number'} -%}
    {%- set state = {'kind': 'state', 'null': true} -%}
    {%- set rules = {
        'entities': {'kind': 'names', 'null': true}, 'entity': {'kind': 'text', 'says': 'the name of an entity'},
        'execute': flag, 'force': flag, 'drop': flag, 'histories': flag, 'skip_missing': flag, 'even_if_absent': flag,
        'older_than_days': number, 'retention_hours': number, 'dates_per_statement': number, 'to': state, 'at': state,
        'source': {'kind': 'text', 'null': true, 'says': 'a table or a file'}, 'name': {'kind': 'text', 'null': true, 'says': 'a name'},
    } -%}
    {%- set problems = [] -%}
    {%- for name, value in given.items() -%}
        {%- set problem = spark_cdc._refusal(name, value, rules[name]) -%}
        {%- if problem is not none -%}{%- do problems.append(problem ~ (' (it is a text)' if value is string and rules[name].kind in ['boolean', 'number'])) -%}{%- endif -%}
    {%- endfor -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error('spark_cdc.' ~ operation ~ ': ' ~ problems | join('; ') ~ '. Nothing was changed.') -%}
    {%- endif -%}
{%- endmacro -%}
