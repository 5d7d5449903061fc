{#- An expression under a name, which is left out where it would say the same again. Returns
    text. -#}
{%- macro _aliased(sql, name) -%}
    {{ return(sql if sql == name else sql ~ ' as ' ~ name) }}
{%- endmacro -%}


{#- Whether any of some columns is null. -#}
{%- macro _any_null(columns) -%}
    {{ return(columns | map(attribute='sql') | join(' is null or ') ~ ' is null') }}
{%- endmacro -%}


{#- A number with its noun: 1 load, 2 loads. -#}
{%- macro _counted(number, noun) -%}
    {{ return(number ~ ' ' ~ noun ~ ('' if number == 1 else 's')) }}
{%- endmacro -%}


{#- The first five of some texts for a message, and how many more there are. -#}
{%- macro _some_of(texts) -%}
    {{ return(texts[:5] | join(', ') ~ (' and ' ~ (texts | length - 5) ~ ' more' if texts | length > 5 else '')) }}
{%- endmacro -%}


{#- A relation, or a query between brackets, which needs a name. -#}
{%- macro _from(relation) -%}
    {%- set text = relation | string -%}
    {{ return(text ~ (' as loaded' if text.startswith('(') else '')) }}
{%- endmacro -%}


{#- A stored hash as 32 hexadecimal characters. -#}
{%- macro _hex(name) -%}{{ return('lower(hex(' ~ name ~ '))') }}{%- endmacro -%}


{%- macro _in_loads(loads) -%}
    {%- if loads | length == 1 -%}{{ return("load_id = '" ~ loads[0] ~ "'") }}{%- endif -%}
    {{ return("load_id in ('" ~ loads | join("', '") ~ "')") }}
{%- endmacro -%}


{#- A position as a SQL literal. -#}
{%- macro _position_literal(position) -%}
    {{ return('array(' ~ position | join('L, ') ~ 'L)') }}
{%- endmacro -%}


{#- Options of from_json() without which its parser takes no number of more than 1,000 digits and no
    text of more than 20,000,000 letters. -#}
{%- macro _json_limits() -%}'maxNumLen', '2147483647', 'maxStringLen', '2147483647'{%- endmacro -%}


{#- A path at which nothing lies, as Spark has it (its wildcards count); none if something does. -#}
{%- macro _lacks_path(path) -%}
    {%- set plan = spark_cdc._plan('select 1 from text.`' ~ path.replace('`', '``') ~ '`') -%}
    {{ return((spark_cdc._plan_missing_path(plan) or path) if 'PATH_NOT_FOUND' in plan else none) }}
{%- endmacro -%}


{#- A text as a SQL literal. Quotes and backslashes are escaped, so that no content of a file name,
    an option or a message can end it, and dollars, since Spark puts a setting's value in the place
    of ${name} even within literals. Returns text. -#}
{%- macro _literal(text) -%}
    {{ return("'" ~ (text | string).replace('\\', '\\\\').replace("'", "\\'").replace('$', '\\u0024') ~ "'") }}
{%- endmacro -%}


{#- An identifier for SQL: as it is where it is plain, between backticks where it has other
    characters or is a word that SQL reserves. Returns text. -#}
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
    {%- set is_plain = not name.strip('abcdefghijklmnopqrstuvwxyz0123456789_') and name[:1] not in '_0123456789' -%}
    {{ return(name if is_plain and name not in reserved else '`' ~ name.replace('`', '``') ~ '`') }}
{%- endmacro -%}


{#- Whether a text has only ASCII letters, digits and some other characters. -#}
{%- macro _has_only(text, others) -%}
    {{ return(not text.strip('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789' ~ others)) }}
{%- endmacro -%}


{#- A text with a backslash before each of some marks. A backslash, if it is one of them, comes
    first. -#}
{%- macro _escaped(text, marks) -%}
    {%- set escaped = namespace(text=text) -%}
    {%- for mark in marks -%}{%- set escaped.text = escaped.text.replace(mark, '\\' ~ mark) -%}{%- endfor -%}
    {{ return(escaped.text) }}
{%- endmacro -%}


{#- A regular expression that matches a text and nothing else. -#}
{%- macro _escaped_regex(text) -%}{{ return(spark_cdc._escaped(text, '\\()[]{}?*+-|^$.&~# \t\n\r\u000b\u000c')) }}{%- endmacro -%}


{#- Splits a text at separators (single characters) outside of quotes and brackets: struct<a: int,
    b: int>, z has two parts.
    Returns a list of trimmed texts. -#}
{%- macro _split_outside(text, separators) -%}
    {%- set at = namespace(part='', depth=0, quote='', is_escaped=false) -%}
    {%- set parts = [] -%}
    {%- for character in text -%}
        {%- if not at.quote and not at.depth and character in separators -%}
            {%- do parts.append(at.part | trim) -%}
            {%- set at.part = '' -%}
        {%- else -%}
            {%- set at.part = at.part ~ character -%}
        {%- endif -%}
        {%- if at.quote -%}
            {%- set at.quote = '' if character == at.quote and not at.is_escaped else at.quote -%}
            {%- set at.is_escaped = character == '\\' and not at.is_escaped and at.quote != '`' -%}
        {%- elif character in '`\'"' -%}
            {%- set at.quote = character -%}
        {%- else -%}
            {%- set at.depth = at.depth + (1 if character in '<(' else -1 if character in '>)' else 0) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(parts + [at.part | trim]) }}
{%- endmacro -%}


{#- The name, inside staging, of a column as it came in. -#}
{%- macro _raw(column) -%}
    {{ return(spark_cdc._quote('cdc__raw_' ~ column.name)) }}
{%- endmacro -%}


{#- A raw value as a short text between quotes. -#}
{%- macro _shown(raw) -%}
    {{ return("concat('\\'', left(cast(" ~ raw ~ " as string), 60), '\\'')") }}
{%- endmacro -%}


{#- A value as JSON for people: letters outside ASCII as they are, which dbt's tojson() escapes;
    what can't be printed stays escaped. -#}
{%- macro _shown_json(value) -%}
    {%- set shown = namespace(text=tojson(value)) -%}
    {%- for sign in value | string | unique(case_sensitive=true) if sign > '~' -%}
        {%- set shown.text = shown.text | replace(tojson(sign)[1:-1], sign) -%}
    {%- endfor -%}
    {{ return(shown.text) }}
{%- endmacro -%}


{#- A value as JSON that can stand in a SQL comment, whatever texts it holds: comments end, nest and
    have their ${settings} filled in wherever they are. -#}
{%- macro _comment_json(value) -%}
    {{ return(tojson(value, sort_keys=true).replace('*', '\\u002a').replace('$', '\\u0024')) }}
{%- endmacro -%}


{#- Whether a map that was read from a JSON object has a name more than once, or under some other
    names (an array, or null) one of those: a condition that is never null. -#}
{%- macro _has_repeated_names(map, names=none) -%}
{%- set own = 'map_keys(' ~ map ~ ')' -%}
coalesce(size(array_distinct({{ 'coalesce(' ~ names ~ ', ' ~ own ~ ')' if names else own }})) < size({{ map }}), false)
{%- endmacro -%}


{#- Whether text in an encoding has other bytes for a line break than ASCII, or these bytes within
    other characters: UTF-16, UTF-32 and EBCDIC. -#}
{%- macro _is_wide_encoding(name) -%}
    {%- set plain = name | string | lower | replace('-', '') | replace('_', '') | replace(' ', '') -%}
    {%- for part in ['utf16', 'utf32', 'ucs2', 'ucs4', 'unicode', 'ebcdic'] if part in plain -%}{{ return(true) }}{%- endfor -%}
    {%- set page = plain.removeprefix('x').removeprefix('ibm').removeprefix('cp').lstrip('0') -%}
    {{ return(page in ['37', '273', '277', '278', '280', '284', '285', '297', '500', '870', '871', '1026', '1047', '1140', '1141', '1142', '1143',
                       '1144', '1145', '1146', '1147', '1148', '1149']) }}
{%- endmacro -%}


{#- A business date as text: 2019-06-19, or 2019-06-19 00:15:00 where loads are finer than a
    day. -#}
{%- macro _time_text(entity, time) -%}
    {{ return(time.strftime('%Y-%m-%d' if entity.eff_type == 'date' else '%Y-%m-%d %H:%M:%S')) }}
{%- endmacro -%}


{#- A business time as text that sorts. Of datetimes dbt v2 knows operators alone: to its Jinja's
    tests, filters, lists and dictionaries all of them are equal. -#}
{%- macro _time_stamp(time) -%}{{ return(time.strftime('%Y%m%dT%H%M%S')) }}{%- endmacro -%}


{#- Business times in order and once each. -#}
{%- macro _times_sorted(times) -%}
    {%- set by_stamp, sorted = {}, [] -%}
    {%- for time in times -%}{%- do by_stamp.update({spark_cdc._time_stamp(time): time}) -%}{%- endfor -%}
    {%- for stamp in by_stamp | list | sort -%}{%- do sorted.append(by_stamp[stamp]) -%}{%- endfor -%}
    {{ return(sorted) }}
{%- endmacro -%}


{#- Those of some business times that are not among others. -#}
{%- macro _times_beside(times, others) -%}
    {%- set stamps, beside = [], [] -%}
    {%- for time in others -%}{%- do stamps.append(spark_cdc._time_stamp(time)) -%}{%- endfor -%}
    {%- for time in times if spark_cdc._time_stamp(time) not in stamps -%}{%- do beside.append(time) -%}{%- endfor -%}
    {{ return(beside) }}
{%- endmacro -%}


{#- A business date as a SQL literal of the type of eff_start_date. -#}
{%- macro _time_literal(entity, time) -%}
    {{ return(entity.eff_type ~ "'" ~ spark_cdc._time_text(entity, time) ~ "'") }}
{%- endmacro -%}


{#- This moment in UTC, as text, in microseconds at most: dbt v2 has nanoseconds.
    Argument: pattern (of strftime). -#}
{%- macro _time_now(pattern='%Y-%m-%d %H:%M:%S') -%}
    {{ return(modules.datetime.datetime.now(modules.pytz.utc).strftime(pattern)[:26]) }}
{%- endmacro -%}


{#- Texts as a list of SQL literals: 'a', 'b'. -#}
{%- macro _literals(texts) -%}
    {%- set literals = [] -%}
    {%- for text in texts -%}{%- do literals.append(spark_cdc._literal(text)) -%}{%- endfor -%}
    {{ return(literals | join(', ')) }}
{%- endmacro -%}


{#- A type as Spark's catalogue writes it: bigint for LONG, decimal(10,0) for decimal, no
    blanks. -#}
{%- macro _plain_type(type) -%}
    {%- set names = {'long': 'bigint', 'short': 'smallint', 'byte': 'tinyint', 'real': 'float', 'timestamp_ltz': 'timestamp'} -%}
    {%- set text = namespace(plain=type | string | trim | lower) -%}
    {%- for mark in '<>(),:' -%}
        {%- set text.plain = text.plain.split(mark) | map('trim') | join(mark) -%}
    {%- endfor -%}
    {%- set digits = spark_cdc._decimal_digits(text.plain) -%}
    {%- if digits -%}{{ return('decimal(' ~ digits | sum ~ ',' ~ digits[1] ~ ')') }}{%- endif -%}
    {{ return(names.get(text.plain, text.plain) | replace('integer', 'int')) }}
{%- endmacro -%}


{#- The digits of a decimal before and after the point, as a list of two numbers; none of other
    types. -#}
{%- macro _decimal_digits(type) -%}
    {%- set text = (type | lower).replace(' ', '') -%}
    {%- set name = text.split('(')[0] -%}
    {%- set given = text[name | length:] -%}
    {%- if name not in ['decimal', 'dec', 'numeric'] -%}{{ return(none) }}{%- endif -%}
    {%- if not given -%}{{ return([10, 0]) }}{%- endif -%}
    {%- set numbers = given[1:-1].split(',') -%}
    {%- if given[-1] != ')' or numbers | length > 2 or '' in numbers or (numbers | join).strip('0123456789') -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set precision, scale = (numbers + ['0'])[:2] | map('int') -%}
    {{ return([precision - scale, scale]) }}
{%- endmacro -%}


{#- A type to compare with what `describe` says, which leaves out the backticks of fields. -#}
{%- macro _plain_type_shown(type) -%}
    {{ return(spark_cdc._plain_type((type | string).replace('``', '\u0000').replace('`', '').replace('\u0000', '`'))) }}
{%- endmacro -%}


{#- A positive number with three significant digits, as text: 0.0123, 12.3, 5. -#}
{%- macro _three_digits(number) -%}
    {%- set scales = [100, 10, 1, 0.1, 0.01, 0.001, 0.0001] | select('gt', number) | list | length -%}
    {%- set text = ('%.' ~ (scales or 0) ~ 'f') | format(number) -%}
    {{ return(text.rstrip('0').rstrip('.') if '.' in text else text) }}
{%- endmacro -%}


{#- Whether a text is what _run_id8() gives: eight hexadecimal digits. -#}
{%- macro _is_id8(text) -%}
    {{ return(text | length == 8 and not text | list | reject('in', '0123456789abcdef') | list) }}
{%- endmacro -%}


{#- Whether a relation is a table of the entity that a reset has set aside, see _ensure_table(). -#}
{%- macro _is_set_aside(name, identifier) -%}
    {%- set parts = identifier.rpartition('_before_') -%}
    {{ return(parts[0] in [name ~ '_ledger', name ~ '_events', name ~ '_kept_input'] and spark_cdc._is_id8(parts[2])) }}
{%- endmacro -%}


{#- Whether a text can be the name of a tag or a branch: lower case letters, digits and _, a letter
    first, at most so many. -#}
{%- macro _is_name(text, most) -%}
    {%- set signs = text.replace('_', 'a') -%}
    {{ return(text | length <= most and text.isascii() and signs.isalnum() and signs == signs.lower() and text[:1].isalpha()) }}
{%- endmacro -%}


{#- Whether a text has the form of a load's name: 20240304-d-0a935ca6. -#}
{%- macro _is_load_id(text) -%}
    {%- set parts = text.split('-') -%}
    {%- if parts | length != 3 -%}{{ return(false) }}{%- endif -%}
    {%- set time = parts[0].partition('T') -%}
    {{ return(time[0] | length == 8 and time[0].isdigit() and (time[1] == '' or (time[2] | length == 6 and time[2].isdigit()))
        and parts[1].isalpha() and parts[1] == parts[1].lower() and spark_cdc._is_id8(parts[2])) }}
{%- endmacro -%}
