{#- What may be wrong with the columns of a row or an event, column by column: dictionaries with column (name), condition (never null) and
    reason (expression of a text). Columns of messages that are neither stored nor give an order are not read. -#}
{%- macro _reject_faults(entity) -%}
    {%- set is_message = entity.events and entity.events.is_message -%}
    {%- set read = entity.stored + spark_cdc._event_order_columns(entity) if is_message else entity.columns -%}
    {%- set faults = [] -%}
    {%- for column in entity.columns if column in read -%}
        {%- set raw, applies = spark_cdc._raw(column), spark_cdc._reject_faults_of(entity, column) -%}
        {%- set condition = spark_cdc._reject_condition(column, raw, column.sql, entity.source.text, entity) -%}
        {%- set plain = spark_cdc._cast_whatever_the_table(column, raw, entity.source.text, entity.timezone) if column.in_orc else '' -%}
        {%- set misfit = spark_cdc._orc_misfit(spark_cdc._hash_type(column.data_type), '(' ~ plain ~ ')') if plain else '' -%}
        {%- set hint = spark_cdc._number_hint(column, raw) if entity.source.text else '' -%}
        {%- set reason -%}
concat({{ spark_cdc._literal(column.name ~ ': ') }}, coalesce({{ spark_cdc._shown(raw) }}, 'null'), {# -#}
{{ spark_cdc._literal(' is not accepted as ' ~ column.data_type ~ ('' if column.nullable else ' not null')) }}
{%- if misfit %}, if({{ misfit }}, ' in an ORC ledger, which keeps no date of 1582-10-05 to 1582-10-14 and no fraction of the second before 1970: {# -#}
take file_format: parquet', ''){% endif %}
        {{- ', ' ~ hint if hint }})
        {%- endset -%}
        {%- if condition -%}
            {%- set condition = applies ~ ' and (' ~ condition ~ ')' if applies else condition -%}
            {%- do faults.append({'column': column.name, 'condition': condition, 'reason': reason}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(faults) }}
{%- endmacro -%}


{#- When a column's value has to be right, as a condition; an empty text: always. Keys have to wherever a row is named, others where one is
    brought. -#}
{%- macro _reject_faults_of(entity, column) -%}
{%- set name = spark_cdc._literal(column.name) -%}
{%- if not entity.events -%}
{{ 'not is_deleted' if entity.deleted_when is not none and column.role not in ['key', 'control'] }}
{%- elif column.role == 'key' -%}
event_problem is null and coalesce(event_op not in ('truncate', 'control'), false)
{%- if entity.events.unique_keys %} and not (event_op = 'delete' and {{ spark_cdc._event_key_old_alternate(entity) }} is not null){% endif -%}
{%- elif column.role == 'control' -%}
event_problem is null and coalesce(event_op <> 'control', false)
{%- else -%}
event_problem is null and {# -#}
coalesce(event_op in ('insert', 'update', 'upsert', 'read'), false) and not coalesce(array_contains(event_unavailable, {{ name }}), false) {# -#}
and (event_op in ('insert', 'read') or not coalesce(array_contains(event_absent, {{ name }}), false))
{%- endif -%}
{%- endmacro -%}
