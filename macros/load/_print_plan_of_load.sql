{#- Prints what a load would come to as a line of JSON behind a marker. Arguments: entity, load (of _plan_load()), audit (of _audit_load(); of a refused load
    as far as it is known), statements (of _planned_statements(), or none), refusal (guard and message, or none). -#}
{%- macro _print_plan_of_load(entity, load, audit, statements=none, refusal=none) -%}
    {%- set record = audit.get('record') or {} -%}
    {%- set events = record.get('events') or {} -%}
    {%- do print('spark_cdc plan: ' ~ tojson({
        'entity': entity.name,
        'business_time': load.business_time,
        'load_type': load.load_type,
        'is_checkpoint': load.is_checkpoint,
        'parent': load.parent,
        'replaces': load.replaced,
        'input': spark_cdc._landing_input(
            spark_cdc._entity_of_change_feed(entity, record.get('feed')), spark_cdc._landing_source(entity), spark_cdc._load_time(load.load_id)),
        'files': audit.get('files'),
        'rows_in': audit.get('rows_in'),
        'counts': audit.get('counts'),
        'rows_prior': audit.get('rows_prior'),
        'rows_current': audit.get('rows_current'),
        'events': {'late': events.late, 'control': events.controls, 'unexpected': events.unexpected} if events else none,
        'definition_change': record.get('definition_change'),
        'statements': statements,
        'refused': refusal,
    })) -%}
{%- endmacro -%}
