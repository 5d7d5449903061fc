{#- Whether Spark's ORC writer changes a value: a date or an instant of the ten days skipped in 1582
    (in the server's zone, whichever it is), an instant with a fraction right before 1970.
    Arguments: type (of _hash_type()), value. Returns a condition; an empty text if it changes none. -#}
{%- macro _orc_misfit(type, value, depth=0) -%}
{%- set part, parts = 'orc_' ~ depth, [] -%}
{%- if type.kind == 'date' -%}
    {%- do parts.append(value ~ " between date'1582-10-05' and date'1582-10-14'") -%}
{%- elif type.kind == 'timestamp' -%}
    {%- set micros = 'unix_micros(' ~ value ~ ')' -%}
    {%- do parts.append(micros ~ ' between -12220207200000000L and -12219249600000001L or ' ~ micros ~ ' between -999000L and -1L') -%}
{%- elif type.kind in ['array', 'map'] -%}
    {%- for inner, items in ([('element', value)] if type.kind == 'array' else [('key', 'map_keys(' ~ value ~ ')'), ('value', 'map_values(' ~ value ~ ')')]) -%}
        {%- set condition = spark_cdc._orc_misfit(type[inner], part, depth + 1) -%}
        {%- do parts.append('exists(' ~ items ~ ', ' ~ part ~ ' -> ' ~ condition ~ ')') if condition -%}
    {%- endfor -%}
{%- elif type.kind == 'struct' -%}
    {%- for field in type.fields -%}
        {%- do parts.append(spark_cdc._orc_misfit(field.type, value ~ '.' ~ spark_cdc._quote(field.name), depth)) -%}
    {%- endfor -%}
{%- endif -%}
{{ parts | select | join(' or ') }}
{%- endmacro -%}
