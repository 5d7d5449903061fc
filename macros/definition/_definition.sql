{#- What the hashes of an entity are computed of, as a dictionary from column to role and type, what orders its events, and how sensitive columns
    are masked: if it changes, what is stored can't be compared with what comes in. -#}
{%- macro _definition(entity) -%}
    {%- set columns = {'hash specification': spark_cdc._hash_specification(entity)} -%}
    {%- for column in entity.stored -%}
        {%- do columns.update({column.name: column.role ~ ' ' ~ column.data_type}) -%}
    {%- endfor -%}
    {%- if entity.events -%}
        {%- set events = entity.events.get('declared') or entity.events -%}
        {%- set order = (events.order + events.tie_breaker) | map(attribute='name') | join(', ') -%}
        {%- do columns.update({'order of events': events.format ~ ' ' ~ order}) -%}
    {%- endif -%}
    {%- if entity.sensitive -%}
        {%- set masks = {} -%}
        {%- for column in entity.sensitive -%}{%- do masks.update({column.name: column.mask}) -%}{%- endfor -%}
        {%- do columns.update({'masks': tojson(masks, sort_keys=true)}) -%}
    {%- endif -%}
    {{ return(columns) }}
{%- endmacro -%}
