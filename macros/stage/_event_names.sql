{#- Names of columns that an event lacks or has beyond the declared ones, as arrays. Keys are never missing: that is a reason to
    reject. -#}


{#- Of the stored columns those that an event that brings a row does not have; of an update also those in which a null says that nothing changed. -#}
{%- macro _event_names_absent(entity) -%}
    {%- set is_there = 'map_contains_key(event_after, ' if entity.events.is_message else 'array_contains(landing_names, ' -%}
    {%- set names = [] -%}
    {%- for column in entity.stored if column.role != 'key' -%}
        {%- set lacks = [] -%}
        {%- if entity.events.is_message or entity.source.format == 'json' -%}
            {%- do lacks.append('not ' ~ is_there ~ spark_cdc._literal(column.from) ~ ')') -%}
        {%- endif -%}
        {%- if (column.null_means or entity.events.null_means) == 'unchanged' -%}
            {%- do lacks.append("event_op in ('update', 'upsert')") -%}
        {%- endif -%}
        {%- if lacks -%}
            {%- set lacking = '(' ~ lacks | join(' or ') ~ ')' if lacks | length > 1 else lacks[0] -%}
            {%- do names.append('if(' ~ spark_cdc._raw(column) ~ ' is null and ' ~ lacking ~ ', ' ~ spark_cdc._literal(column.name) ~ ', null)') -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(spark_cdc._event_names_of_row(names)) }}
{%- endmacro -%}


{#- Of the stored columns those that an event that brings a row has only a mark in place of. -#}
{%- macro _event_names_unavailable(entity) -%}
    {%- set names = [] -%}
    {%- for column in entity.stored if column.role != 'key' -%}
        {%- set marks = spark_cdc._sent_marks(entity, column) -%}
        {%- if marks and (entity.events.is_message or entity.source.text or column.data_type == 'string') -%}
            {%- set name -%}
if(coalesce({{ spark_cdc._raw(column) }} in ({{ marks | join(', ') }}), false), {{ spark_cdc._literal(column.name) }}, null)
            {%- endset -%}
            {%- do names.append(name) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(spark_cdc._event_names_of_row(names)) }}
{%- endmacro -%}


{#- Those of some names that are not null, of an event that brings a row; null where all are. -#}
{%- macro _event_names_of_row(names) -%}
{%- if not names -%}
cast(null as array<string>)
{%- else -%}
if(
    event_op in ('insert', 'update', 'upsert', 'read')
    and coalesce(
        {{ names | join(',\n        ') }}
    ) is not null,
    {{ spark_cdc._texts_found(names) | indent(4) }},
    null
)
{%- endif -%}
{%- endmacro -%}


{#- What an event's new image has that is no column of the entity. It is looked for only where there are more names
    than declared columns, which is cheap to count. -#}
{%- macro _event_names_unexpected(entity) -%}
{%- set found = 'map_keys(event_after)' if entity.events.is_message else 'landing_names' -%}
{%- set raws = entity.stored if entity.events.is_message else entity.columns -%}  {#- what gives the order may lie beside a message -#}
{%- if not entity.events.is_message and entity.source.format != 'json' -%}
cast(null as array<string>)
{%- else -%}
if(
    size({{ found }}) > {# -#}
    {%- for column in entity.columns -%}
    if({{ spark_cdc._raw(column) ~ ' is not null or ' if column in raws and column.role != 'key' }}array_contains({{ found }}, {# -#}
    {{ spark_cdc._literal(column.from) }}), 1, 0){{ ' + ' if not loop.last }}
    {%- endfor %},
    array_except({{ found }}, array({{ spark_cdc._literals(entity.columns | map(attribute='from')) }})), null
)
{%- endif -%}
{%- endmacro -%}
