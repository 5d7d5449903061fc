{#- The position of an event in the order of all: snapshot rows first, then what the format and the tie-breaker say;
    null where a part is missing. -#}
{%- macro _event_position(entity) -%}
{%- set tie_parts = spark_cdc._order_parts(entity.events.tie_breaker) -%}
{%- set has_null = 'size(event_position) > 0 and sort_array(event_position)[0] is null' -%}
case
    when event_op = 'read'
        then concat(
            array(0L),
            if({{ has_null }}, cast(split(array_join(event_position, ',', '0'), ',') as array<bigint>), coalesce(event_position, array()))
            {%- if tie_parts %},
            array({% for part in tie_parts %}coalesce({{ part }}, 0L){{ ', ' if not loop.last }}{% endfor %})
            {%- endif %}
        )
    when {{ has_null }} then null
    {%- if tie_parts %}
    when {{ spark_cdc._any_null(entity.events.tie_breaker) }} then null
    {%- endif %}
    else concat(array(1L), event_position{% if tie_parts %}, array({{ tie_parts | join(', ') }}){% endif %})
end
{%- endmacro -%}
