{#- How far events had been applied after a load, as its record tells: the highest position and that of the last truncate, and up to where the change feed of a
    table was read, and where the events were from (see _found_origins()). -#}
{%- macro _applied_by(record) -%}
    {%- set feed = record.get('feed') or record.events.get('feed') -%}
    {{ return(dict(
        {'truncated': record.events.truncated, 'highest': record.events.highest},
        **dict(
            {'feed': {'id': feed.id, 'to': feed.to, 'offset': feed.offset}} if feed else {},
            **({'origin': record.events.origin} if record.events.get('origin') else {})
        )
    )) }}
{%- endmacro -%}
