{#- Staging of change events as SQL: what an adapter reads out of the source, typed, judged, and with the hash of its
    key. Column kinds of formats bring their columns typed; message kinds bring them as maps of text.
    Arguments: entity, landed (relation with the columns of the source and `landing_problem`; for message kinds
    `message`, `message_key` and the declared control columns, null where they were not landed beside the message).
    Returns a query with the columns of _event_columns(), without its partition; where _has_place() also step__place. note: an
    expression in place of the note on what can't be accepted. Events of forgotten keys have no sensitive values. -#}
{%- macro _stage_events_sql(entity, landed, note=none) -%}
    {%- set old_keys, by_names = spark_cdc._old_keys(entity), entity.events.unique_keys | length > 0 -%}
    {%- set names = ['event_op', 'event_position'] + (['step__place'] if spark_cdc._has_place(entity) else [])
        + ['event_transaction', 'event_time', 'event_hash', 'key_hash'] + (['old_key_hash'] if old_keys else [])
        + (['old_alternate_hash', 'alternate_hashes'] if by_names else []) + (old_keys + entity.stored) | map(attribute='name') | list
        + ['event_absent', 'event_unavailable', 'event_unexpected'] + (['event_origin'] if entity.events.origin else []) + ['note'] -%}
    {{ return(spark_cdc._forgotten_staged_rows_sql(entity, spark_cdc._staged_events_sql(entity, landed, note), names)) }}
{%- endmacro -%}


{%- macro _staged_events_sql(entity, landed, note) -%}
{%- set old_keys, names_origin = spark_cdc._old_keys(entity), spark_cdc._adapter_format(entity.events.format).origin -%}
{%- do spark_cdc._refuse_events(entity) -%}
{{ spark_cdc._typed_messages_ctes(entity, landed, old_keys) if entity.events.is_message else spark_cdc._typed_rows_ctes(entity, landed, old_keys) }},

completed as (
    select
        *,
        {{ spark_cdc._event_position(entity) | indent(8) }} as final_position,
        {%- if spark_cdc._has_place(entity) %}
        event_position[0] as step__place,
        {%- endif %}
        {{ spark_cdc._event_names_absent(entity) | indent(8) }} as event_absent,
        {{ spark_cdc._event_names_unavailable(entity) | indent(8) }} as event_unavailable,
        {{ spark_cdc._event_names_unexpected(entity) | indent(8) }} as event_unexpected
        {%- for old in old_keys %},
        {{ spark_cdc._cast(old, spark_cdc._raw(old), true, entity.timezone) }} as {{ old.sql }}
        {%- endfor %}
    from typed
)

select
    event_op,
    final_position as event_position,
    {%- if spark_cdc._has_place(entity) %}
    step__place,
    {%- endif %}
    event_transaction,
    event_time,
    {{ spark_cdc._event_hash(entity) | indent(4) }} as event_hash,
    {{ spark_cdc._event_key_hash(entity) | indent(4) }} as key_hash,
    {%- if old_keys %}
    {{ spark_cdc._event_key_old_hash(old_keys) | indent(4) }} as old_key_hash,
    {%- endif %}
    {%- if entity.events.unique_keys %}
    {{ spark_cdc._event_key_old_alternate(entity) | indent(4) }} as old_alternate_hash,
    if(event_op in ('insert', 'update', 'upsert', 'read'), {# -#}
    {{ spark_cdc._alternate_hash_array(entity) | indent(4) }}, null) as alternate_hashes,
    {%- endif %}
    {% for old in old_keys -%}
    {{ old.sql }},
    {% endfor -%}
    {%- for column in entity.stored -%}
    {{ column.sql }},
    {% endfor -%}
    event_absent,
    event_unavailable,
    if(size(event_unexpected) > 0, event_unexpected, null) as event_unexpected,
    {%- if entity.events.origin %}
    {{ 'event_origin' if names_origin else 'cast(null as ' ~ spark_cdc._event_origin_type() ~ ')' }} as event_origin,
    {%- endif %}
    {{ note or spark_cdc._event_note(entity) | indent(4) }} as note
from completed
{%- endmacro -%}


{#- What messages bring, column by column in its type. -#}
{%- macro _typed_messages_ctes(entity, landed, old_keys) -%}
{%- set order_columns = spark_cdc._event_order_columns(entity) -%}
with landed as (
    select
        message,
        message_key,
        named_struct(
            'message', message
            {%- for column in entity.columns | selectattr('role', 'equalto', 'control') %},
            {{ spark_cdc._literal(column.name) }}, {{ spark_cdc._quote(column.from) }}
            {%- endfor %}
        ) as landed_row
    from {{ landed }}
),

events as (
    {{ spark_cdc._adapter(entity.events.format)(entity, 'landed') | indent(4) }}
),

received as (
    select
        event_op,
        event_position,
        event_transaction,
        event_time,
        event_problem,
        event_before,
        event_after,
        {{ 'event_origin,' if entity.events.origin }}
        {{ 'landed_row.message' if entity.events.landed_row else 'cast(null as string)' }} as landing_message
        {%- for column in entity.stored %},
        {{ spark_cdc._sent_image_value(column) }} as {{ spark_cdc._raw(column) }}
        {%- endfor %}
        {%- for column in order_columns %},
        {%- set name = spark_cdc._literal(column.from) %}
        coalesce({{ 'landed_row.' ~ column.sql ~ ', ' if entity.events.landed_row -}}
        event_after[{{ name }}], event_before[{{ name }}]) as {{ spark_cdc._raw(column) }}
        {%- endfor %}
        {%- for old in old_keys %},
        {{ spark_cdc._sent_old_key(entity, old.of, spark_cdc._sent_image_value(old.of)) }} as {{ spark_cdc._raw(old) }}
        {%- endfor %}
    from events
),

-- every column is text here
typed as (
    select
        *
        {%- for column in entity.stored + order_columns %},
        {{ spark_cdc._sent_value(entity, column) }} as {{ column.sql }}
        {%- endfor %}
    from received
)
{%- endmacro -%}


{#- What rows of change tables bring: their columns are cast before the adapter reads them. -#}
{%- macro _typed_rows_ctes(entity, landed, old_keys) -%}
{{ spark_cdc._cast_columns_ctes(entity, landed, 'cast_columns') }},

events as (
    {{ spark_cdc._adapter(entity.events.format)(entity, 'cast_columns') | indent(4) }}
),

typed as (
    select
        *
        {%- for old in old_keys %},
        {{ spark_cdc._sent_old_key(entity, old.of, 'cast(' ~ spark_cdc._raw(old.of) ~ ' as string)') }} as {{ spark_cdc._raw(old) }}
        {%- endfor %}
    from events
)
{%- endmacro -%}
