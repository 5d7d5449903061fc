{#- The macro events_<format><suffix>, of the user's own project or of this one; none if there is none. Without a suffix that is the
    adapter: of an entity and a relation (of messages with message, message_key and landed_row, or of rows with all columns as
    declared) it makes a query with the columns of the canonical event (docs/events.md), rows with all their own columns too. -#}
{%- macro _adapter(format, suffix='') -%}
    {%- set name = 'events_' ~ format ~ suffix -%}
    {{ return(context.get(name) or context['spark_cdc'].get('_' ~ name)) }}
{%- endmacro -%}


{#- What a format says of itself in the macro events_<format>_format(), or of its settings alone in events_<format>_settings(). Returns a
    dictionary: settings (those that only this format has, with the values they accept, or none), has_order (whether the format has an order
    of its own, so that events.order is refused), landed_row (whether the adapter hands on that column), images (the fields of a message that
    hold columns of the table), origin (whether the adapter says where events are from, in event_origin),
    unavailable (text that stands for an unchanged value), position (which fields give it, for messages), feed
    (what the change feed of a table of this format counts in, where the table itself can be read: events_<format>_feed_now() and what lies beside it), orders_halves (whether the last number of a position
    only puts the delete before the insert of a key change that is told as both). -#}
{%- macro _adapter_format(format) -%}
    {%- set described = {'settings': {}, 'has_order': false, 'landed_row': false, 'images': [], 'origin': false, 'unavailable': none, 'position': none, 'feed': none,
        'orders_halves': false} -%}
    {%- set settings_of, format_of = spark_cdc._adapter(format, '_settings'), spark_cdc._adapter(format, '_format') -%}
    {%- do described.update({'settings': settings_of()}) if settings_of -%}
    {%- do described.update(format_of()) if format_of -%}
    {{ return(described) }}
{%- endmacro -%}


{#- What is wrong with an entity's settings of its format, as the macro events_<format>_problems says, if there is one.
    Returns a list of texts. -#}
{%- macro _adapter_problems(entity) -%}
    {%- set problems_of = spark_cdc._adapter(entity.events.format, '_problems') -%}
    {{ return(problems_of(entity) if problems_of else []) }}
{%- endmacro -%}
