{#- An identifier for SQL: as it is where it is plain, between backticks where it has other characters or is a
    word that SQL reserves. Returns text. -#}
{%- macro _quote(name) -%}
    {%- set reserved = [
        'all', 'and', 'anti', 'any', 'array', 'as', 'at', 'authorization', 'between', 'both', 'by', 'case', 'cast', 'check',
        'collate', 'column', 'constraint', 'create', 'cross', 'current_date', 'current_time', 'current_timestamp',
        'current_user', 'date', 'decimal', 'default', 'describe', 'delete', 'distinct', 'drop', 'else', 'end', 'escape',
        'except', 'exists', 'explain', 'false', 'fetch', 'filter', 'for', 'foreign', 'from', 'full', 'function', 'grant',
        'group', 'having', 'hour', 'if', 'in', 'inner', 'insert', 'intersect', 'interval', 'into', 'is', 'join', 'key',
        'lateral', 'leading', 'left', 'like', 'limit', 'local', 'map', 'merge', 'minus', 'minute', 'month', 'natural', 'not',
        'null', 'offset', 'on', 'only', 'or', 'order', 'outer', 'overlaps', 'partition', 'primary', 'range', 'references',
        'right', 'rlike', 'rows', 'second', 'select', 'semi', 'session_user', 'set', 'some', 'start', 'struct', 'table',
        'then', 'time', 'timestamp', 'to', 'trailing', 'true', 'union', 'unique', 'unknown', 'update', 'user', 'using',
        'values', 'when', 'where', 'window', 'with', 'within', 'year',
    ] -%}
    {%- if modules.re.fullmatch('[a-z][a-z0-9_]*', name) and name not in reserved -%}
        {{ return(name) }}
    {%- endif -%}
    {{ return('`' ~ name.replace('`', '``') ~ '`') }}
{%- endmacro -%}
