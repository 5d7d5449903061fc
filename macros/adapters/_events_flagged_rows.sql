{#- Change-event format `flagged_rows`: rows with a column that says what happened to them and columns that give their
    order, such as the change tables of vendors.
    Arguments: entity, typed (relation with all columns as declared). Returns a query: its columns and those of the
    canonical event. -#}
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
    {{ spark_cdc._coded_problem(events.operation, operation.sql, codes) | indent(4) }} as event_problem,
    {{ spark_cdc._old_key_map(entity) | indent(4) }} as event_before
from {{ typed }}
{%- endmacro -%}


{#- The technical columns: the flag, where it is not declared. -#}
{%- macro _events_flagged_rows_columns(entity) -%}
    {%- set operation = entity.events.get('operation') -%}
    {{ return([{'name': operation, 'data_type': 'string', 'required': true}] if operation else []) }}
{%- endmacro -%}


{#- The settings that only this format has. -#}
{%- macro _events_flagged_rows_settings() -%}
    {{ return({'operation': none, 'codes': none, 'old_key': none, 'transaction': none, 'time': none}) }}
{%- endmacro -%}


{#- What is wrong with them. Returns a list of texts. -#}
{%- macro _events_flagged_rows_problems(entity) -%}
    {%- set problems = [] -%}
    {%- do problems.extend(spark_cdc._adapter_column_problems(entity, ['operation', 'transaction', 'time'], ['operation'])) -%}
    {%- do problems.extend(spark_cdc._event_instant_problems(entity, 'time')) -%}
    {%- if not entity.events.order -%}
        {%- do problems.append('events.order is missing or names no column: name the columns that give the order of the '
            ~ 'changes, most significant first') -%}
    {%- endif -%}
    {%- do problems.extend(spark_cdc._order_type_problems('events.order', entity.events.order)) -%}
    {%- do problems.extend(spark_cdc._old_key_problems(entity)) -%}
    {%- set codes = entity.events.get('codes') or {} -%}
    {%- set accepted = ['insert', 'update', 'upsert', 'delete', 'truncate', 'read', 'control'] -%}
    {%- if codes is not mapping -%}
        {%- do problems.append('events.codes is not a mapping: write code: operation below it, such as U: update') -%}
    {%- else -%}
        {%- for code in codes if codes[code] not in accepted -%}
            {%- do problems.append("events.codes gives '" ~ spark_cdc._code_text(code) ~ "' the operation '" ~ codes[code] ~ "'; accepted are "
                ~ accepted | join(', ') ~ ': correct it') -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}


{%- macro _flagged_rows_codes(events) -%}
    {%- if events.get('codes') -%}
        {{ return(events.codes) }}
    {%- endif -%}
    {%- set codes = {} -%}
    {%- for operation in ['insert', 'update', 'delete'] -%}
        {%- for code in [operation[0] | upper, operation | upper, operation[0], operation] -%}
            {%- do codes.update({code: operation}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(codes) }}
{%- endmacro -%}
