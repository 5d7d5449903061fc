{#- How far events had been applied after a load, as its record tells: the highest position and that of the last truncate, and up to where the change feed of a
    table was read. -#}
{%- macro _applied_by(record) -%}
    {%- set feed = record.get('feed') or record.events.get('feed') -%}
    {{ return(dict(
        {'truncated': record.events.truncated, 'highest': record.events.highest},
        **({'feed': {'id': feed.id, 'to': feed.to, 'offset': feed.offset}} if feed else {})
    )) }}
{%- endmacro -%}
