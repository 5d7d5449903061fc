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
