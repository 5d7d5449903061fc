{#- The hash of some columns of a row, as the ledger computes it: see docs/hash.md.
    Argument: columns (list of dictionaries {name, data_type, sql}; sql is the typed expression,
    mostly the column itself). Returns an expression of type binary, 16 bytes, never null. -#}
{%- macro hash(columns) -%}{{ return(spark_cdc._hash(columns)) }}{%- endmacro -%}


{#- The hash of some columns of a row: md5 over the canonical, injective encoding of docs/hash.md
    (version 1), or, if a column is sensitive, HMAC-MD5 over it with the installation's secret
    (version 2). It skips nulls and sorts columns by name, so a new column that is null everywhere
    and another order of columns change no hash. It is the same on every JVM, in every session time
    zone, with ANSI mode on and off.
    Argument: columns (list of dictionaries {name, data_type, sql, secret}; secret is the table with
    the keys of a sensitive column's hashes, none or absent for others).
    Returns an expression of type binary, 16 bytes, never null. -#}
{%- macro _hash(columns) -%}
    {%- if not columns -%}{{ return("unhex(md5(''))") }}{%- endif -%}
    {%- set fields, problems = [], [] -%}
    {%- for column in columns -%}
        {%- set type = spark_cdc._hash_type(column.data_type) -%}
        {%- do problems.append("column '" ~ column.name ~ "': " ~ type.problem) if type.problem -%}
        {%- do fields.append({'name': column.name, 'type': type, 'sql': column.sql}) -%}
    {%- endfor -%}
    {%- for name in spark_cdc._hash_repeated_names(fields) -%}
        {%- do problems.append("column '" ~ name ~ "' is given more than once: names that differ by case only count as one, "
            ~ "rename one of them") -%}
    {%- endfor -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error('spark_cdc.hash can not hash these columns:\n  - ' ~ problems | join('\n  - ')) -%}
    {%- endif -%}
    {{ return(spark_cdc._hash_digest('concat(\n    ' ~ spark_cdc._hash_records(fields) | join(',\n    ') ~ '\n)', spark_cdc._secret_of(columns))) }}
{%- endmacro -%}


{#- md5 of a message, or its HMAC-MD5 (RFC 2104). A scalar subquery reads the keys while the
    statement runs, once per query, so that no SQL, plan or log holds them. Spark accepts it neither
    in a lambda nor in the condition of a join.
    Arguments: message (a text expression, never null), secret (table with the struct keys:
    inner_key, outer_key; or none). Returns an expression of type binary, 16 bytes. -#}
{%- macro _hash_digest(message, secret=none) -%}
    {%- if secret is none -%}{{ return('unhex(md5(' ~ message ~ '))') }}{%- endif -%}
unhex(md5(concat(
    (select keys from {{ secret }}).outer_key,
    unhex(md5(concat((select keys from {{ secret }}).inner_key, cast({{ message | indent(4) }} as binary))))
)))
{%- endmacro -%}


{#- The records of named values, the columns of a row or the fields of a struct, in the order of
    their names in lower case. fields: list of dictionaries {name, type, sql}, type as _hash_type
    returns it.
    Returns a list of text expressions, one for each field: `,<length>:<name>=<value>`, or '' for
    null. -#}
{%- macro _hash_records(fields, depth=0) -%}
    {%- set by_name = {} -%}
    {%- for field in fields -%}{%- do by_name.update({field.name | lower: field}) -%}{%- endfor -%}
    {%- set records = [] -%}
    {%- for name in by_name | sort(case_sensitive=true) -%}
        {%- set field = by_name[name] -%}
        {#- its length in UTF-8: urlencode makes %XX of each byte that is no plain character -#}
        {%- set encoded = name | urlencode -%}
        {%- set prefix = ',' ~ (encoded | length - 2 * encoded.count('%')) ~ ':' ~ name ~ '=' -%}
        {%- do records.append(spark_cdc._hash_value(field.sql, field.type, depth, prefix, '')) -%}
    {%- endfor -%}
    {{ return(records) }}
{%- endmacro -%}


{#- The names that occur more than once among the fields, whatever their case.
    Returns a list of texts. -#}
{%- macro _hash_repeated_names(fields) -%}
    {%- set seen, repeated = [], [] -%}
    {%- for name in fields | map(attribute='name') -%}
        {%- do repeated.append(name) if name | lower in seen -%}
        {%- do seen.append(name | lower) -%}
    {%- endfor -%}
    {{ return(repeated) }}
{%- endmacro -%}


{#- Reads a data type as Spark writes it, in upper or lower case, nested to any depth.
    Returns a dictionary: kind (boolean, integer, decimal, float, double, string, binary, date,
    timestamp, timestamp_ntz, array, map, struct), text (of types that hold no others), and by kind:
    scale; element; key and value; fields, a list of {name, type}. problem is none, or the only
    entry: why the type can't be hashed. -#}
{%- macro _hash_type(data_type) -%}
    {%- set kinds = {
        'boolean': 'boolean',
        'tinyint': 'integer', 'byte': 'integer', 'smallint': 'integer', 'short': 'integer',
        'int': 'integer', 'integer': 'integer', 'bigint': 'integer', 'long': 'integer',
        'float': 'float', 'real': 'float', 'double': 'double',
        'string': 'string', 'binary': 'binary', 'date': 'date',
        'timestamp': 'timestamp', 'timestamp_ltz': 'timestamp', 'timestamp_ntz': 'timestamp_ntz',
    } -%}
    {%- set text = data_type | string | trim -%}
    {%- if text | lower in kinds -%}
        {{ return({'kind': kinds[text | lower], 'text': text, 'problem': none}) }}
    {%- endif -%}

    {%- set digits = spark_cdc._decimal_digits(text) -%}
    {%- if digits -%}
        {%- set before, scale = digits -%}
        {%- if before < 0 or not 1 <= before + scale <= 38 -%}
            {{ return({'problem': "the type " ~ text ~ " does not exist in Spark; accepted are precisions from 1 to 38 and "
                ~ "scales up to the precision: correct it, for instance decimal(18,2)"}) }}
        {%- endif -%}
        {{ return({'kind': 'decimal', 'scale': scale, 'text': text, 'problem': none}) }}
    {%- endif -%}

    {%- set kind = text.split('<')[0] | trim | lower -%}
    {%- if kind not in ['array', 'map', 'struct'] or text[-1] != '>' -%}
        {{ return({'problem': "the type " ~ text ~ " can't be hashed; accepted are boolean, tinyint, smallint, int, bigint, "
            ~ "float, double, decimal(p,s), string, binary, date, timestamp, timestamp_ntz, array<...>, struct<name: type, ...> "
            ~ "and map<...>: declare one of them, such as string"}) }}
    {%- endif -%}
    {%- set malformed = {'problem': "the type " ~ text ~ " is not well-formed; accepted are array<type>, map<type, type> and "
        ~ "struct<name: type, ...>: correct it"} -%}
    {%- set fields, types = [], [] -%}
    {%- for part in spark_cdc._split_outside(text.split('<', 1)[1][:-1], ',') -%}
        {%- if kind == 'struct' -%}
            {%- set field = spark_cdc._hash_field(part) -%}
            {%- if field is none -%}{{ return(malformed) }}{%- endif -%}
            {%- do fields.append(field) -%}
        {%- endif -%}
        {%- do types.append(fields[-1].type if kind == 'struct' else spark_cdc._hash_type(part)) -%}
    {%- endfor -%}
    {%- for name in spark_cdc._hash_repeated_names(fields) -%}
        {{ return({'problem': "the type " ~ text ~ " has the field " ~ name ~ " more than once, case apart; accepted are names "
            ~ "that differ by more than case: rename one of them"}) }}
    {%- endfor -%}
    {%- if (kind == 'array' and types | length != 1) or (kind == 'map' and types | length != 2) or not types -%}
        {{ return(malformed) }}
    {%- endif -%}
    {%- for type in types | selectattr('problem') -%}
        {{ return({'problem': "in " ~ text ~ ", " ~ type.problem}) }}
    {%- endfor -%}
    {{ return({'kind': kind, 'problem': none, 'fields': fields, 'element': types[0], 'key': types[0], 'value': types[-1]}) }}
{%- endmacro -%}


{#- Whether a column of a type holds a number. -#}
{%- macro _is_number_type(data_type) -%}
    {{ return(spark_cdc._hash_type(data_type).get('kind') in ['integer', 'decimal', 'float', 'double']) }}
{%- endmacro -%}


{#- Reads a field of a struct: `name: type` or `name type`, with or without NOT NULL and a comment.
    Returns {name, type}, type as _hash_type returns it; none if the field is not well-formed. -#}
{%- macro _hash_field(text) -%}
    {%- set words = spark_cdc._split_outside(text, ': \t\r\n') | select | list -%}
    {%- set name = words[0] if words else '' -%}
    {%- set lowered = words | map('lower') | list -%}
    {%- set has_comment = lowered[2:][-2:-1] == ['comment'] and words[-1][0] in '\'"' -%}
    {%- set lowered = lowered[:-2] if has_comment else lowered -%}
    {%- set lowered = lowered[:-2] if lowered[2:][-2:] == ['not', 'null'] else lowered -%}
    {%- set is_quoted = name[:1] == '`' and name[-1] == '`' and name | length > 2 -%}
    {%- if lowered | length < 2 or not (is_quoted or name.replace('_', 'a').isalnum()) -%}{{ return(none) }}{%- endif -%}
    {{ return({
        'name': name[1:-1].replace('``', '`') if is_quoted else name,
        'type': spark_cdc._hash_type(words[1:lowered | length] | join(' ')),
    }) }}
{%- endmacro -%}


{#- The encoding of one value, by its type (the table in docs/hash.md), as a text expression.
    Doubles and wall-clock times go through xxhash64: it is one-to-one for a single value of 8
    bytes, takes -0.0 for 0.0 and knows one NaN. A double's text would depend on the JVM, and
    unix_micros of a wall-clock time on the session time zone. xxhash64 of null is its seed, and the
    fields of a struct do not say whether the struct is null: these kinds ask with nvl2. try_cast
    writes decimals without an exponent in both ANSI modes, cast in one only.
    Arguments: sql (the expression), type (of _hash_type), depth (number of lambdas around the
    expression), prefix (literal text before the encoding), if_null (the result where the value is
    null).
    Returns a text expression that is never null. -#}
{%- macro _hash_value(sql, type, depth, prefix, if_null) -%}
    {%- set kind = type['kind'] -%}
    {%- set item = 'e' ~ (depth + 1) -%}
    {%- set double = sql if kind == 'double' else 'cast(' ~ sql ~ ' as double)' -%}
    {%- set of_kind = {
        'boolean': ('b', ['cast(' ~ sql ~ ' as string)']),
        'integer': ('n', ['cast(' ~ sql ~ ' as string)']),
        'decimal': ('n', ['cast(' ~ sql ~ ' as string)' if not type.get('scale')
                          else "trim(trailing '.' from trim(trailing '0' from try_cast(" ~ sql ~ ' as string)))']),
        'float': ('f', ['hex(xxhash64(' ~ double ~ '))']),
        'double': ('f', ['hex(xxhash64(' ~ double ~ '))']),
        'string': ('s', ['octet_length(' ~ sql ~ ')', "':'", sql]),
        'binary': ('x', ['hex(' ~ sql ~ ')']),
        'date': ('d', ['cast(unix_date(' ~ sql ~ ') as string)']),
        'timestamp': ('t', ['cast(unix_micros(' ~ sql ~ ') as string)']),
        'timestamp_ntz': ('w', ['hex(xxhash64(' ~ sql ~ '))']),
    } -%}
    {%- if kind in of_kind -%}
        {%- set tag, parts = of_kind[kind] -%}
    {%- elif kind == 'array' -%}
        {%- set element = spark_cdc._hash_value(item, type['element'], depth + 1, '', '~') -%}
        {%- set tag, parts = '[', ['array_join(transform(' ~ sql ~ ', ' ~ item ~ ' -> ' ~ element ~ "), ',')", "']'"] -%}
    {%- elif kind == 'map' -%}
        {%- set key = spark_cdc._hash_value(item ~ '.key', type['key'], depth + 1, '', '~') -%}
        {%- set value = spark_cdc._hash_value(item ~ '.value', type['value'], depth + 1, '>', '>~') -%}
        {%- set entries = 'transform(map_entries(' ~ sql ~ '), ' ~ item ~ ' -> concat(' ~ key ~ ', ' ~ value ~ '))' -%}
        {%- set tag, parts = '(', ['array_join(array_sort(' ~ entries ~ "), ',')", "')'"] -%}
    {%- elif kind == 'struct' -%}
        {%- set operand = sql if spark_cdc._has_only(sql, '_.`') else '(' ~ sql ~ ')' -%}
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


{#- The token for a value: the same in all columns of its domain. Returns an expression: 32
    hexadecimal digits, null of null.
    Arguments: column (with pseudonym, data_type, secret), value (SQL). -#}
{%- macro _pseudonym(column, value) -%}
    {%- set token = spark_cdc._hash([dict(column, name='pseudonym:' ~ column.pseudonym, sql=value)]) -%}
if({{ value }} is null, null, {{ spark_cdc._hex(token) }})
{%- endmacro -%}


{#- The table with the secret that keys hashes over some columns; none if none of them is
    sensitive. -#}
{%- macro _secret_of(columns) -%}
    {{ return((columns | selectattr('secret', 'defined') | map(attribute='secret') | select | list + [none]) | first) }}
{%- endmacro -%}
