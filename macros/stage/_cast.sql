{#- An expression that turns a column as it came in into its declared type: null where that is not possible, in
    ANSI mode and without it, and whatever the session's time zone is. -#}
{%- macro _cast(entity, column) -%}
    {%- set raw = spark_cdc._raw(column) -%}
    {%- set type = column.data_type -%}
    {%- if column.get('encoding') -%}
        {{ return(spark_cdc._cast_encoded(raw, type, column.encoding)) }}
    {%- elif not entity.source.text -%}
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


{#- A value that is encoded: a time as a whole number since 1970-01-01 00:00 UTC, or a decimal as base64. Null where it
    lies outside the years 1 to 9999 or does not fit without a loss. -#}
{%- macro _cast_encoded(raw, type, encoding) -%}
    {%- if encoding == 'base64' -%}
        {{ return(spark_cdc._cast_base64_decimal(raw, type)) }}
    {%- endif -%}
    {%- set number = 'try_cast(' ~ raw ~ ' as bigint)' -%}
    {%- set per_day = {'days': 1, 'seconds': 86400, 'millis': 86400000, 'micros': 86400000000, 'nanos': 86400000000000}[encoding] -%}
    {#- 0001-01-01 to 9999-12-31, or as far as a bigint reaches -#}
    {%- set lowest = [-719162 * per_day, -9223372036854775807] | max -%}
    {%- set highest = [2932897 * per_day - 1, 9223372036854775807] | min -%}
    {%- set conditions = [number ~ ' between ' ~ lowest ~ 'L and ' ~ highest ~ 'L'] -%}
    {%- if type == 'date' and encoding == 'days' -%}
        {%- set value = 'date_from_unix_date(cast(' ~ number ~ ' as int))' -%}
    {%- elif type == 'date' -%}
        {%- do conditions.append(number ~ ' % ' ~ per_day ~ ' = 0') -%}
        {%- set value = 'date_from_unix_date(cast(' ~ number ~ ' div ' ~ per_day ~ ' as int))' -%}
    {%- else -%}
        {%- if encoding == 'nanos' -%}
            {%- do conditions.append(number ~ ' % 1000 = 0') -%}
        {%- endif -%}
        {%- set micros = number ~ {'days': ' * 86400000000', 'seconds': ' * 1000000', 'millis': ' * 1000', 'micros': '',
                                   'nanos': ' div 1000'}[encoding] -%}
        {%- set value = 'timestamp_micros(' ~ micros ~ ')' if type == 'timestamp'
                else "timestamp_ntz'1970-01-01 00:00:00' + interval '0.000001' second * (" ~ micros ~ ')' -%}
    {%- endif -%}
    {{ return('case when ' ~ conditions | join(' and ') ~ ' then ' ~ value ~ ' end') }}
{%- endmacro -%}


{#- A decimal as Java and Kafka Connect write one: the unscaled number in two's complement, its highest byte first, as
    base64. The scale is the declared type's, or stands beside it: {"scale": 2, "value": "MDk="}. Each transform of an
    array with one element gives a name to what is used again: t the base64 text, h the number in hexadecimal digits,
    u the number as text, s the scale beside it. -#}
{%- macro _cast_base64_decimal(raw, type) -%}
    {%- set declared = modules.re.fullmatch('[a-z]+ *(?:[(] *[0-9]+ *(?:, *([0-9]+) *)?[)])?', type) -%}
    {%- set scale = (declared.group(1) or 0) | int -%}
    {%- set is_object = 'left(' ~ raw ~ ", 1) = '{'" -%}
    {%- set text = 'array(if(' ~ is_object ~ ', get_json_object(' ~ raw ~ ", '$.value'), " ~ raw ~ '))' -%}
    {%- set digits = 'transform(' ~ text ~ ", t -> hex(try_to_binary(if(length(t) % 4 = 0, t, null), 'base64')))" -%}
    {%- set surplus = 's - ' ~ scale -%}
    {%- set scaled = "transform(array(from_json(" ~ raw ~ ", 'scale int').scale), s -> case when s between -38 and 16383 and (" ~ surplus
            ~ " <= 0 or u = '0' or right(u, " ~ surplus ~ ") = repeat('0', " ~ surplus ~ ")) then try_cast(concat(u, 'E', -s) as "
            ~ type ~ ') end)[0]' -%}
    {{ return('transform(transform(' ~ digits ~ ', h -> ' ~ spark_cdc._unscaled() ~ '), u -> if(' ~ is_object ~ ', ' ~ scaled
        ~ ", try_cast(concat(u, 'E-" ~ scale ~ "') as " ~ type ~ ')))[0]') }}
{%- endmacro -%}


{#- The whole number h, in hexadecimal digits of its two's complement, as text. Spark converts 64 bits at once; up to
    128 bits are two halves of p, 32 digits without the sign: of the complement, where the number is negative. -#}
{%- macro _unscaled() -%}
    {%- set digits = "lpad(if(h >= '8', translate(h, '0123456789ABCDEF', 'FEDCBA9876543210'), h), 32, '0')" -%}
    {%- set high = 'cast(conv(left(p, 16), 16, 10) as decimal(20, 0))' -%}
    {%- set low = 'cast(conv(right(p, 16), 16, 10) as decimal(20, 0))' -%}
    {%- set magnitude = 'try_add(try_add(try_multiply(' ~ high ~ ', 18446744073709551616BD), ' ~ low ~ "), if(h >= '8', 1BD, 0BD))" -%}
    {{ return(
        "case when length(h) between 2 and 16 then conv(lpad(h, 16, if(h >= '8', 'F', '0')), 16, -10)"
        ~ " when length(h) between 17 and 32 then concat(if(h >= '8', '-', ''), transform(array(" ~ digits ~ '), p -> cast('
        ~ magnitude ~ ' as string))[0]) end'
    ) }}
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


{#- The note on a rejected row: JSON with what is wrong, column by column, and the row as it came in. -#}
{%- macro _reject_note(entity) -%}
to_json(named_struct(
    'reasons', array_compact(array(
        {{ spark_cdc._landing_reason(entity) }}
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
        {%- if 'duplicate_keys' in entity.quarantine %},
        if(repeated_key_hash is not null, concat({{ spark_cdc._literal(spark_cdc._repeated_reason()) }}, ' (', repeated_rows, ' rows)'), null)
        {%- endif %}
    )),
    'row', named_struct(
        {%- for column in entity.columns %}
        {{ spark_cdc._literal(column.from) }}, {{ spark_cdc._raw(column) }}{{ ',' if not loop.last }}
        {%- endfor %}
    ),
    'text', {{ spark_cdc._landing_text(entity) }}
))
{%- endmacro -%}


{#- The reason of a row whose key comes more than once. -#}
{%- macro _repeated_reason() -%}{{ return('the key comes more than once in the load') }}{%- endmacro -%}


{#- What is wrong with a row as a whole. Of JSON landing_problem is that and, behind a line break, the text of the row; of CSV it
    is the text of the row. -#}
{%- macro _landing_reason(entity) -%}
    {%- if entity.source.format == 'csv' -%}
        {{ return("concat('the fields of the row do not match the header: ', left(landing_problem, 200))") }}
    {%- elif entity.source.format == 'json' -%}
        {{ return('substring_index(landing_problem, char(10), 1)') }}
    {%- endif -%}
    {{ return('landing_problem') }}
{%- endmacro -%}


{#- The text of a row that could not be taken apart; null for others. -#}
{%- macro _landing_text(entity) -%}
    {%- if entity.source.format == 'json' -%}
        {{ return("if(contains(landing_problem, char(10)), substring(landing_problem, instr(landing_problem, char(10)) + 1), null)") }}
    {%- endif -%}
    {{ return('landing_problem') }}
{%- endmacro -%}


{#- A raw value as a short text between quotes. -#}
{%- macro _shown(raw) -%}
    {{ return("concat('\\'', left(cast(" ~ raw ~ " as string), 60), '\\'')") }}
{%- endmacro -%}
