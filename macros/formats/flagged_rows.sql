{#- Change-event format `flagged_rows`: rows with a column that says what happened to them and
    columns that give their order, such as the change tables of vendors. -#}
{%- macro _events_flagged_rows(entity, typed) -%}
{%- set events = entity.events -%}
{%- set operation = spark_cdc._named_column(entity, events.operation) -%}
{%- set codes = spark_cdc._flagged_rows_codes(events) -%}
select
    *,
    {{ spark_cdc._coded_operation(operation.sql, codes) | indent(4) }} as event_op,
    array(
        {{ spark_cdc._order_parts(events.order) | join(',\n        ') }}
    ) as event_position,
    {{ spark_cdc._event_text(entity, spark_cdc._named_column(entity, events.get('transaction'))) }} as event_transaction,
    {{ spark_cdc._event_instant(entity, spark_cdc._named_column(entity, events.get('time'))) }} as event_time,
    {{ spark_cdc._coded_operation_problem(events.operation, operation.sql, codes) | indent(4) }} as event_problem,
    {{ spark_cdc._old_key_map(entity) | indent(4) }} as event_before
from {{ typed }}
{%- endmacro -%}


{#- The technical columns: the flag, where it is not declared. -#}
{%- macro _events_flagged_rows_columns(entity) -%}
    {%- set operation = entity.events.get('operation') -%}
    {{ return([{'name': operation, 'data_type': 'string', 'required': true}] if operation else []) }}
{%- endmacro -%}


{%- macro _events_flagged_rows_format() -%}
    {{ return({'settings': {'operation': none, 'codes': none, 'old_key': none, 'transaction': none, 'time': none}}) }}
{%- endmacro -%}


{%- macro _events_flagged_rows_problems(entity) -%}
    {%- set accepted = spark_cdc._event_operations() -%}
    {%- set problems = spark_cdc._adapter_column_problems(entity, ['operation', 'transaction', 'time'], 'time', ['operation'])
        + spark_cdc._broken({}, [
            (not entity.events.order,
             'events.order is missing or names no column: name the columns that give the order of the changes, most significant first'),
        ])
        + spark_cdc._order_type_problems('events.order', entity.events.order)
        + spark_cdc._old_key_map_problems(entity) -%}
    {%- if (entity.events.get('codes') or {}) is not mapping -%}
        {%- do problems.append('events.codes is not a mapping: write code: operation below it, such as U: update') -%}
    {%- else -%}
        {%- for code, operation in spark_cdc._flagged_rows_codes(entity.events).items() if operation not in accepted -%}
            {%- set problem -%}
events.codes gives '{{ code }}' the operation '{{ operation }}'; accepted are {{ accepted | join(', ') }}: correct it
            {%- endset -%}
            {%- do problems.append(problem) -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The codes as texts, of which YAML may have read 1 as a number and true as a boolean, with their
    operations. -#}
{%- macro _flagged_rows_codes(events) -%}
    {%- set codes = {} -%}
    {%- for code, operation in (events.get('codes') or {}).items() -%}
        {%- do codes.setdefault(code | string | lower if code is boolean else code | string, operation) -%}
    {%- endfor -%}
    {%- for operation in ['insert', 'update', 'delete'] if not events.get('codes') -%}
        {%- for code in [operation[0] | upper, operation | upper, operation[0], operation] -%}
            {%- do codes.update({code: operation}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(codes) }}
{%- endmacro -%}
