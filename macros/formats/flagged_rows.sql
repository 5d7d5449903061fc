{#- Change-event format `flagged_rows`: rows with a column that says what happened to them and
    columns that give their order, such as the change tables of vendors. -#}
{%- macro _events_flagged_rows(entity, typed) -%}
{{ spark_cdc.row_events(entity, typed, {
    'operation': entity.events.operation,
    'codes': spark_cdc._flagged_rows_codes(entity.events),
    'position': spark_cdc._order_parts(entity.events.order),
}) }}
{%- endmacro -%}


{%- macro _events_flagged_rows_format() -%}
    {{ return({
        'shape': 'rows', 'problems': true,
        'settings': {'operation': 'column', 'transaction': 'column', 'time': 'time', 'codes': none, 'old_key': 'old key'},
        'needed': ['operation'],
        'columns': [{'setting': 'operation', 'data_type': 'string', 'required': true}],
        'no_order': 'events.order is missing or names no column: name the columns that give the order of the changes, '
            ~ 'most significant first',
    }) }}
{%- endmacro -%}


{%- macro _events_flagged_rows_problems(entity) -%}
    {%- set problems, accepted = [], spark_cdc._event_operations() -%}
    {%- if (entity.events.get('codes') or {}) is not mapping -%}
        {{ return(['events.codes is not a mapping: write code: operation below it, such as U: update']) }}
    {%- endif -%}
    {%- for code, operation in spark_cdc._flagged_rows_codes(entity.events).items() if operation not in accepted -%}
        {%- do problems.append("events.codes gives '" ~ code ~ "' the operation '" ~ operation ~ "'; accepted are " ~ accepted | join(', ')
            ~ ': correct it') -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The codes as texts, of which YAML may have read 1 as a number and true as a boolean, with their
    operations. -#}
{%- macro _flagged_rows_codes(events) -%}
    {%- set codes = {} -%}
    {%- for code, operation in (events.get('codes') or {}).items() -%}
        {%- set text = code | string | lower if code is boolean else code | string -%}
        {%- if text not in codes -%}{%- do codes.update({text: operation}) -%}{%- endif -%}
    {%- endfor -%}
    {%- for operation in ['insert', 'update', 'delete'] if not events.get('codes') -%}
        {%- for code in [operation[0] | upper, operation | upper, operation[0], operation] -%}
            {%- do codes.update({code: operation}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(codes) }}
{%- endmacro -%}
