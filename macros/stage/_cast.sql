{#- An expression that turns a column as it came in into its declared type: null where that is not possible, in
    ANSI mode and without it, and whatever the session's time zone is. -#}
{%- macro _cast(entity, column) -%}
    {%- set raw = spark_cdc._raw(column) -%}
    {%- set type = column.data_type -%}
    {%- if not entity.source.text -%}
        {{ return('try_cast(' ~ raw ~ ' as ' ~ type ~ ')') }}
    {%- elif type == 'string' -%}
        {{ return(raw) }}
    {%- elif type == 'binary' -%}
        {%- set format = column.format or 'base64' -%}
        {{ return("try_to_binary(" ~ raw ~ ", '" ~ ('utf-8' if format == 'utf8' else format) ~ "')") }}
    {%- elif modules.re.match('(array|struct|map)', type) -%}
        {{ return(spark_cdc._parsed_json(column) ~ '.value') }}
    {%- elif type == 'date' and column.format -%}
        {{ return('cast(try_to_timestamp(' ~ raw ~ ', ' ~ spark_cdc._literal(column.format) ~ ') as date)') }}
    {%- elif type == 'timestamp' -%}
        {{ return(spark_cdc._cast_instant(raw, column.format, entity.timezone)) }}
    {%- elif type == 'timestamp_ntz' and column.format -%}
        {{ return("timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, unix_micros("
            ~ spark_cdc._cast_instant(raw, column.format, 'UTC') ~ ") / cast(1000000 as decimal(7, 0)))") }}
    {%- endif -%}
    {{ return('try_cast(' ~ raw ~ ' as ' ~ type ~ ')') }}
{%- endmacro -%}


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
        'try_cast(case when ' ~ raw ~ ' rlike ' ~ spark_cdc._literal(spark_cdc._zone_pattern()) ~ ' then ' ~ raw
        ~ " when contains(" ~ raw ~ ", ':') then concat(trim(" ~ raw ~ "), " ~ spark_cdc._literal(' ' ~ zone if '/' in zone else zone)
        ~ ") else concat(trim(" ~ raw ~ "), " ~ spark_cdc._literal(' 00:00:00' ~ (' ' ~ zone if '/' in zone else zone))
        ~ ') end as timestamp)'
    ) }}
{%- endmacro -%}


{#- A regular expression for text of a time that ends in a zone: Z, an offset, UTC or a region. -#}
{%- macro _zone_pattern() -%}
    {{ return(':.*([zZ]|[+-][0-9]{1,2}(:?[0-9]{2})?|UTC|GMT|UT|[A-Za-z_]+/[A-Za-z_/]+) *$') }}
{%- endmacro -%}


{#- JSON text of an array, struct or map, parsed as {value, problem}; problem is not null where any part of it does
    not fit the declared type (Spark would put null there and say nothing). -#}
{%- macro _parsed_json(column) -%}
    {{ return("from_json(concat('{\"value\":', " ~ spark_cdc._raw(column) ~ ", '}'), "
        ~ spark_cdc._literal('value ' ~ column.data_type ~ ', problem string')
        ~ ", map('columnNameOfCorruptRecord', 'problem'))") }}
{%- endmacro -%}


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
    {%- if entity.source.text -%}
        {%- set decimals = modules.re.fullmatch('decimal *[(] *[0-9]+ *, *([0-9]+) *[)]', type) -%}
        {%- if type.startswith('decimal') -%}
            {%- set scale = decimals.group(1) if decimals else '0' -%}
            {%- do conditions.append("coalesce(" ~ raw ~ " rlike '[.][0-9]{" ~ scale ~ "}[0-9]*[1-9]', false)") -%}
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


{#- The note on a rejected row: JSON with what is wrong, column by column, and the row as it came in. -#}
{%- macro _reject_note(entity) -%}
to_json(named_struct(
    'reasons', array_compact(array(
        {{ "concat('the fields of the row do not match the header: ', left(landing_problem, 200))"
           if entity.source.format == 'csv' else 'landing_problem' }}
        {%- for column in entity.columns %}
        {%- set condition = spark_cdc._reject_condition(entity, column) %}
        {%- if condition %},
        if(
            {{ condition }},
            concat({{ spark_cdc._literal(column.name ~ ': ') }}, coalesce({{ spark_cdc._shown(spark_cdc._raw(column)) }}, 'null'), {{ spark_cdc._literal(
                ' is not accepted as ' ~ column.data_type ~ ('' if column.nullable else ' not null')) }}),
            null
        )
        {%- endif %}
        {%- endfor %}
    )),
    'row', named_struct(
        {%- for column in entity.columns %}
        {{ spark_cdc._literal(column.from) }}, {{ spark_cdc._raw(column) }}{{ ',' if not loop.last }}
        {%- endfor %}
    )
))
{%- endmacro -%}


{#- A raw value as a short text between quotes. -#}
{%- macro _shown(raw) -%}
    {{ return("concat('\\'', left(cast(" ~ raw ~ " as string), 60), '\\'')") }}
{%- endmacro -%}
