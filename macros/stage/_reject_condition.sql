{#- When a column makes its row unacceptable: null where it must not be, text that does not fit the type, or a
    value that fits only with a loss. Returns a condition that is never null, or an empty text where nothing can
    be wrong. -#}
{%- macro _reject_condition(entity, column) -%}
    {%- set raw = spark_cdc._raw(column) -%}
    {%- set type = column.data_type -%}
    {%- set conditions = [] -%}
    {%- if not column.nullable -%}
        {%- do conditions.append(column.sql ~ ' is null') -%}
    {%- endif -%}
    {%- if column.nullable and not entity.source.text -%}
        {%- do conditions.append(raw ~ ' is not null and ' ~ column.sql ~ ' is null') -%}
    {%- elif column.nullable and type != 'string' -%}
        {#- an empty field is null for every type but text -#}
        {%- do conditions.append(column.sql ~ " is null and coalesce(" ~ raw ~ ", '') <> ''") -%}
    {%- endif -%}
    {%- if entity.source.text and not column.get('encoding') -%}
        {%- set decimals = modules.re.fullmatch('decimal *[(] *[0-9]+ *, *([0-9]+) *[)]', type) -%}
        {%- if type.startswith('decimal') -%}
            {%- set scale = decimals.group(1) if decimals else '0' -%}
            {#- with an exponent the place of the point says nothing; only long texts are searched by a regular expression -#}
            {%- do conditions.append('coalesce(if(contains(' ~ raw ~ ", 'e') or contains(" ~ raw ~ ", 'E'), cast(" ~ column.sql
                ~ ' as double) <> try_cast(' ~ raw ~ ' as double), length(substring_index(' ~ raw ~ ", '.', -1)) > " ~ scale
                ~ ' and ' ~ raw ~ " rlike '[.][0-9]{" ~ scale ~ "}[0-9]*[1-9]'), false)") -%}
        {%- elif type == 'date' and not column.format -%}
            {%- do conditions.append("coalesce(contains(" ~ raw ~ ", ':') and not " ~ raw
                ~ " rlike '[T ]00:00(:00([.]0+)?)?[zZ]? *$', false)") -%}
        {%- elif type == 'timestamp_ntz' and not column.format -%}
            {%- do conditions.append('coalesce(' ~ raw ~ ' rlike ' ~ spark_cdc._literal(spark_cdc._zone_pattern()) ~ ', false)') -%}
        {%- elif modules.re.match('(array|struct|map)', type) -%}
            {%- do conditions.append(spark_cdc._parsed_json(column) ~ '.problem is not null') -%}
        {%- endif -%}
    {%- endif -%}
    {{ return(conditions | join(' or ')) }}
{%- endmacro -%}
