{#- Text to an instant. Text that says no zone of its own is read in the zone given, never in the session's. -#}
{%- macro _cast_instant(raw, format, timezone) -%}
    {%- set zone = '+00:00' if timezone == 'UTC' else timezone -%}
    {%- if format -%}
        {%- if modules.re.search("[VzOXxZ]", modules.re.sub("'[^']*'", '', format)) -%}
            {{ return('try_to_timestamp(' ~ raw ~ ', ' ~ spark_cdc._literal(format) ~ ')') }}
        {%- endif -%}
        {%- set pattern = format ~ (' xxx' if zone[0] in '+-' else ' VV') -%}
        {{ return('try_to_timestamp(concat(' ~ raw ~ ', ' ~ spark_cdc._literal(' ' ~ zone) ~ '), '
            ~ spark_cdc._literal(pattern) ~ ')') }}
    {%- endif -%}
    {{ return(
        'try_cast(case when contains(' ~ raw ~ ", ':') and (endswith(" ~ raw ~ ", 'Z') or " ~ raw ~ ' rlike ' ~ spark_cdc._literal(spark_cdc._zone_pattern()) ~ ') then ' ~ raw
        ~ " when contains(" ~ raw ~ ", ':') then concat(trim(" ~ raw ~ "), " ~ spark_cdc._literal(' ' ~ zone if '/' in zone else zone)
        ~ ") else concat(trim(" ~ raw ~ "), " ~ spark_cdc._literal(' 00:00:00' ~ (' ' ~ zone if '/' in zone else zone))
        ~ ') end as timestamp)'
    ) }}
{%- endmacro -%}


{#- A regular expression for text of a time that ends in a zone: Z, an offset, UTC or a region. -#}
{%- macro _zone_pattern() -%}
    {{ return(':.*([zZ]|[+-][0-9]{1,2}(:?[0-9]{2})?|UTC|GMT|UT|[A-Za-z_]+/[A-Za-z_/]+) *$') }}
{%- endmacro -%}
