{#- The encoding of one value, by its type (the table in docs/hash.md), as a text expression.
    Doubles and wall-clock times go through xxhash64, which is one-to-one for a single value of 8 bytes, takes
    -0.0 for 0.0 and knows one NaN. A double's text would depend on the JVM, and unix_micros of a wall-clock time on
    the session time zone. But of null xxhash64 gives its seed, and a struct's fields do not say whether the struct
    is null: these kinds ask with nvl2. Decimals take try_cast, which writes them without an exponent in either ANSI
    mode, where cast does so in one only.
    sql: the expression; type: as _hash_type returns it; depth: how many lambdas surround the expression;
    prefix: literal text put before the encoding; if_null: the whole result where the value is null.
    Returns a text expression that is never null. -#}
{%- macro _hash_value(sql, type, depth, prefix, if_null) -%}
    {%- set kind = type['kind'] -%}
    {%- set item = 'e' ~ (depth + 1) -%}
    {%- if kind == 'boolean' -%}
        {%- set tag, parts = 'b', ['cast(' ~ sql ~ ' as string)'] -%}
    {%- elif kind == 'integer' or (kind == 'decimal' and type['scale'] == 0) -%}
        {%- set tag, parts = 'n', ['cast(' ~ sql ~ ' as string)'] -%}
    {%- elif kind == 'decimal' -%}
        {%- set text = 'try_cast(' ~ sql ~ ' as string)' -%}
        {%- set tag, parts = 'n', ["trim(trailing '.' from trim(trailing '0' from " ~ text ~ '))'] -%}
    {%- elif kind in ['float', 'double'] -%}
        {%- set double = sql if kind == 'double' else 'cast(' ~ sql ~ ' as double)' -%}
        {%- set tag, parts = 'f', ['hex(xxhash64(' ~ double ~ '))'] -%}
    {%- elif kind == 'string' -%}
        {%- set tag, parts = 's', ['octet_length(' ~ sql ~ ')', "':'", sql] -%}
    {%- elif kind == 'binary' -%}
        {%- set tag, parts = 'x', ['hex(' ~ sql ~ ')'] -%}
    {%- elif kind == 'date' -%}
        {%- set tag, parts = 'd', ['cast(unix_date(' ~ sql ~ ') as string)'] -%}
    {%- elif kind == 'timestamp' -%}
        {%- set tag, parts = 't', ['cast(unix_micros(' ~ sql ~ ') as string)'] -%}
    {%- elif kind == 'timestamp_ntz' -%}
        {%- set tag, parts = 'w', ['hex(xxhash64(' ~ sql ~ '))'] -%}
    {%- elif kind == 'array' -%}
        {%- set element = spark_cdc._hash_value(item, type['element'], depth + 1, '', '~') -%}
        {%- set tag, parts = '[', ['array_join(transform(' ~ sql ~ ', ' ~ item ~ ' -> ' ~ element ~ "), ',')", "']'"] -%}
    {%- elif kind == 'map' -%}
        {%- set key = spark_cdc._hash_value(item ~ '.key', type['key'], depth + 1, '', '~') -%}
        {%- set value = spark_cdc._hash_value(item ~ '.value', type['value'], depth + 1, '>', '>~') -%}
        {%- set entries = 'transform(map_entries(' ~ sql ~ '), ' ~ item ~ ' -> concat(' ~ key ~ ', ' ~ value ~ '))' -%}
        {%- set tag, parts = '(', ['array_join(array_sort(' ~ entries ~ "), ',')", "')'"] -%}
    {%- elif kind == 'struct' -%}
        {%- set operand = sql if modules.re.fullmatch('[A-Za-z0-9_.`]+', sql) else '(' ~ sql ~ ')' -%}
        {%- set fields = [] -%}
        {%- for field in type['fields'] -%}
            {%- do fields.append(dict(field, sql=operand ~ '.' ~ spark_cdc._quote(field.name))) -%}
        {%- endfor -%}
        {%- set records = spark_cdc._hash_records(fields, depth) | join(', ') -%}
        {%- set tag, parts = '{', [records, "'}'"] -%}
    {%- endif -%}
    {%- set parts = [spark_cdc._literal(prefix ~ tag)] + parts -%}
    {%- set asked = 'nvl2(' ~ sql ~ ', ' if kind in ['float', 'double', 'timestamp_ntz', 'struct'] else 'coalesce(' -%}
    {{ return(asked ~ 'concat(' ~ parts | join(', ') ~ '), ' ~ spark_cdc._literal(if_null) ~ ')') }}
{%- endmacro -%}
