{#- Change events as Acme's ERP system writes them, one JSON object a line:
    {"what": "upd", "at": [7, 2], "unit": "t1", "when": "2024-05-01T10:00:00Z", "old": {"id": 1}, "new": {"id": 1, "name": "x"}}
    Returns a query of canonical change events. -#}
{%- macro events_acme(entity, landed) -%}
with parsed as (
    select
        message,
        from_json(
            message,
            'what string, at array<bigint>, unit string, `when` string, old map<string, string>, new map<string, string>, problem string',
            map('columnNameOfCorruptRecord', 'problem')
        ) as event
    from {{ landed }}
)

select
    case event.what
        when 'ins' then 'insert'
        when 'upd' then 'update'
        when 'put' then 'upsert'
        when 'del' then 'delete'
        when 'all' then 'truncate'
        when 'img' then 'read'
        when 'ping' then 'control'
    end as event_op,
    event.at as event_position,
    event.unit as event_transaction,
    try_cast(event.`when` as timestamp) as event_time,
    case
        when event.problem is not null then concat('not a JSON object of the expected shape: ', left(message, 200))
        when event.what is null or event.what not in ('ins', 'upd', 'put', 'del', 'all', 'img', 'ping') then concat(
            'unknown operation in "what": ', left(message, 200), '; accepted are ins, upd, put, del, all, img, ping'
        )
    end as event_problem,
    event.old as event_before,
    event.new as event_after
from parsed
{%- endmacro -%}
