{#- The settings of a change-event entity (of _event_settings()) for a run that loads a full snapshot: its rows become events of a format of their own
    (_events_full_snapshot()), at the position that the run says. declared is what they are for other loads. -#}
{%- macro _snapshot_events(name, events) -%}
    {{ return(dict(
        events,
        format='full_snapshot',
        is_message=false,
        landed_row=false,
        order=[],
        tie_breaker=[],
        unavailable=none,
        technical=[],
        declared=events,
        snapshot=spark_cdc._snapshot_position(name, events.order),
    )) }}
{%- endmacro -%}


{#- The position of the snapshot that this run loads, from the var `spark_cdc_position`: one for all entities of the run, or one for each.
    Arguments: name (of the entity), order (columns that order its events). Returns a dictionary: numbers (as in event_position, behind its first), or
    time and type (a time of the first column of the order); none where it is neither. -#}
{%- macro _snapshot_position(name, order) -%}
    {%- set given = var('spark_cdc_position', none) -%}
    {%- set given = given.get(name) if given is mapping else given -%}
    {%- set type = order[0].data_type if order else none -%}
    {%- set parts = given if given is sequence and given is not string else (given | string).split(',') -%}
    {%- set numbers = [] -%}
    {%- for part in parts if modules.re.fullmatch('-?[0-9]{1,18}', part | string | trim) -%}{%- do numbers.append(part | string | trim) -%}{%- endfor -%}
    {%- set time = spark_cdc._business_time(given) if type in ['date', 'timestamp', 'timestamp_ntz'] else none -%}
    {{ return({'time': time, 'type': type} if time is not none else {'numbers': numbers} if numbers and numbers | length == parts | length else none) }}
{%- endmacro -%}
