{#- The hash of some columns of a row, as the ledger computes it: see docs/hash.md.
    Arguments: columns (list of dictionaries {name, data_type, sql}; sql is the typed expression, mostly the column itself). Returns an
    expression of type binary, 16 bytes, never null. -#}
{%- macro hash(columns) -%}{{ return(spark_cdc._hash(columns)) }}{%- endmacro -%}


{#- The hash of some columns of a row: md5 over the canonical, injective encoding that docs/hash.md specifies
    (version 1), or, if one of the columns is sensitive, HMAC-MD5 over the same with the secret of the
    installation (version 2). Nulls are left out and columns are taken in the order of their names, so a new column that is
    null everywhere, or columns in another order, change no hash. The same on every JVM, in every session time
    zone, with ANSI mode on and off.
    columns: list of dictionaries {name, data_type, sql, secret}; sql is the typed expression, mostly the column itself, secret the table with
    the keys of a sensitive column's hashes (none, or left out, for others).
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


{#- md5 of a message, or its HMAC-MD5 (RFC 2104). The keys are read by a scalar subquery while the statement runs, which Spark does once for all of
    a query, so that they stand in no SQL, plan or log. It may not stand in a lambda or in the condition of a join, where Spark does not take it.
    Arguments: message (a text expression, never null), secret (table with the struct keys: inner_key, outer_key; or none). Returns an expression of
    type binary, 16 bytes. -#}
{%- macro _hash_digest(message, secret=none) -%}
    {%- if secret is none -%}{{ return('unhex(md5(' ~ message ~ '))') }}{%- endif -%}
unhex(md5(concat(
    (select keys from {{ secret }}).outer_key,
    unhex(md5(concat((select keys from {{ secret }}).inner_key, cast({{ message | indent(4) }} as binary))))
)))
{%- endmacro -%}


{#- The records of named values, the columns of a row or the fields of a struct, in the order of their names in
    lower case. fields: list of dictionaries {name, type, sql}, type as _hash_type returns it.
    Returns a list of text expressions, one for each field: `,<length>:<name>=<value>`, or '' for null. -#}
{%- macro _hash_records(fields, depth=0) -%}
    {%- set by_name = {} -%}
    {%- for field in fields -%}{%- do by_name.update({field.name | lower: field}) -%}{%- endfor -%}
    {%- set records = [] -%}
    {%- for name, field in by_name.items() | sort(attribute=0, case_sensitive=true) -%}
        {%- set prefix = ',' ~ name.encode('utf-8') | length ~ ':' ~ name ~ '=' -%}
        {%- do records.append(spark_cdc._hash_value(field.sql, field.type, depth, prefix, '')) -%}
    {%- endfor -%}
    {{ return(records) }}
{%- endmacro -%}


{#- Names that stand more than once among the fields, case apart. Returns a list of texts. -#}
{%- macro _hash_repeated_names(fields) -%}
    {%- set seen, repeated = [], [] -%}
    {%- for name in fields | map(attribute='name') -%}
        {%- do repeated.append(name) if name | lower in seen -%}
        {%- do seen.append(name | lower) -%}
    {%- endfor -%}
    {{ return(repeated) }}
{%- endmacro -%}


{#- Reads a data type as Spark writes it, upper or lower case, nested as deep as it may be.
    Returns a dictionary: kind (boolean, integer, decimal, float, double, string, binary, date, timestamp,
    timestamp_ntz, array, map, struct) and what belongs to it: scale; element; key and value; fields, a list of
    {name, type}; text, of types that hold no others. For a type that can't be hashed it returns {problem: text}; otherwise problem is none. -#}
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

    {%- set decimal = modules.re.fullmatch(
        '(?i)(?:decimal|dec|numeric)\\s*(?:\\(\\s*([0-9]{1,4})\\s*(?:,\\s*([0-9]{1,4})\\s*)?\\))?', text) -%}
    {%- if decimal -%}
        {%- set precision, scale = (decimal.group(1) or 10) | int, (decimal.group(2) or 0) | int -%}
        {%- if precision < 1 or precision > 38 or scale > precision -%}
            {{ return({'problem': "the type " ~ text ~ " does not exist in Spark; accepted are precisions from 1 to 38 and "
                ~ "scales up to the precision: correct it, for instance decimal(18,2)"}) }}
        {%- endif -%}
        {{ return({'kind': 'decimal', 'scale': scale, 'text': text, 'problem': none}) }}
    {%- endif -%}

    {%- set nested = modules.re.fullmatch('(?is)(array|map|struct)\\s*<(.*)>', text) -%}
    {%- if not nested -%}
        {{ return({'problem': "the type " ~ text ~ " can't be hashed; accepted are boolean, tinyint, smallint, int, bigint, "
            ~ "float, double, decimal(p,s), string, binary, date, timestamp, timestamp_ntz, array<...>, struct<name: type, ...> "
            ~ "and map<...>: declare one of them, such as string"}) }}
    {%- endif -%}
    {%- set kind = nested.group(1) | lower -%}
    {%- set parts = spark_cdc._hash_type_parts(nested.group(2)) -%}
    {%- set malformed = {'problem': "the type " ~ text ~ " is not well-formed; accepted are array<type>, map<type, type> and "
        ~ "struct<name: type, ...>: correct it"} -%}
    {%- set fields, types = [], [] -%}
    {%- for part in parts -%}
        {%- if kind == 'struct' -%}
            {%- set field = modules.re.fullmatch(
                "(?is)(`(?:[^`]|``)+`|\\w+)(?:\\s*:\\s*|\\s+)(\\S.*?)(?:\\s+not\\s+null)?(?:\\s+comment\\s+(?:'.*'|\".*\"))?", part) -%}
            {%- if not field -%}
                {{ return(malformed) }}
            {%- endif -%}
            {%- set name = field.group(1) -%}
            {%- set name = name[1:-1].replace('``', '`') if name.startswith('`') else name -%}
            {%- set type = spark_cdc._hash_type(field.group(2)) -%}
            {%- do fields.append({'name': name, 'type': type}) -%}
        {%- else -%}
            {%- set type = spark_cdc._hash_type(part) -%}
        {%- endif -%}
        {%- do types.append(type) -%}
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


{#- Splits what stands between < and > at its outermost commas. Returns a list of texts. -#}
{%- macro _hash_type_parts(text) -%}
    {%- set tokens = modules.re.findall("(?s)`(?:[^`]|``)*`|'(?:[^'\\\\]|\\\\.)*'|\"(?:[^\"\\\\]|\\\\.)*\"|[^`'\"<>(),]+|.", text) -%}
    {%- set at = namespace(depth=0, part='') -%}
    {%- set parts = [] -%}
    {%- for token in tokens -%}
        {%- set at.depth = at.depth + (1 if token in ['<', '('] else -1 if token in ['>', ')'] else 0) -%}
        {%- if token == ',' and at.depth == 0 -%}
            {%- do parts.append(at.part | trim) -%}
            {%- set at.part = '' -%}
        {%- else -%}
            {%- set at.part = at.part ~ token -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(parts + [at.part | trim]) }}
{%- endmacro -%}


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


{#- The version of the encoding that docs/hash.md specifies, with a secret or without; it is stored with every load. -#}
{%- macro _hash_version(secret=none) -%}{{ return('1' if secret is none else '2') }}{%- endmacro -%}


{#- The token that stands for the value of a column, the same wherever a column of its domain has the value, as 32 hexadecimal digits; null of null.
    Arguments: column (with pseudonym, data_type, secret), value (SQL). -#}
{%- macro _pseudonym(column, value) -%}
    {%- set token = spark_cdc._hash([dict(column, name='pseudonym:' ~ column.pseudonym, sql=value)]) -%}
if({{ value }} is null, null, {{ spark_cdc._hex(token) }})
{%- endmacro -%}


{#- The table with the secret that hashes over some columns are keyed with: none, if none of them is sensitive. -#}
{%- macro _secret_of(columns) -%}
    {{ return(columns | selectattr('secret', 'defined') | map(attribute='secret') | select | first | default(none)) }}
{%- endmacro -%}
