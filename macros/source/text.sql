{%- macro _csv_has_header(entity) -%}{{ return(spark_cdc._reader_option(entity, ['header'], true) | string | lower == 'true') }}{%- endmacro -%}


{%- macro _csv_is_multi_line(entity) -%}
    {{ return(entity.source.format == 'csv' and spark_cdc._reader_option(entity, ['multiline'], false) | string | lower == 'true') }}
{%- endmacro -%}


{#- The declared encoding of CSV, in lower case. -#}
{%- macro _csv_encoding(entity) -%}
    {%- set name = spark_cdc._reader_option(entity, ['encoding', 'charset'], 'utf-8') | lower -%}
    {{ return('utf-8' if name == 'utf8' else name) }}
{%- endmacro -%}


{#- Whether a view on the files themselves has the declared columns. -#}
{%- macro _csv_is_as_declared(entity, found) -%}
    {{ return(not spark_cdc._missing_columns(entity, found) and '\r\n' not in found | map(attribute='col_name') | join) }}
{%- endmacro -%}


{#- What is wrong with the quotes of a line of CSV, as SQL. Spark takes a field whose quote is not
    escaped as it stands there, with its quotes; with multiLine it does so only at the end of a
    field, else it stops.
    Returns a dictionary:
        open       1 where a field begins with a quote that the line does not close; with multiLine
                   how many quotes begin or end a field
        unescaped  whether a field between quotes holds a quote that is not escaped, as where
                   quotes are doubled and `escape` is another character
        rest       of a line with quotes, without its closed fields: a column for the others -#}
{%- macro _csv_quotes(entity) -%}
    {%- set quote = spark_cdc._reader_option(entity, ['quote'], '"') -%}
    {%- if entity.source.format != 'csv' or not quote -%}{{ return({'open': '0', 'unescaped': 'false'}) }}{%- endif -%}
    {%- set escape = spark_cdc._reader_option(entity, ['escape'], '\\') -%}
    {%- set is_trimmed = spark_cdc._reader_option(entity, ['ignoreleadingwhitespace'], false) | string | lower == 'true' -%}
    {%- set q = spark_cdc._escaped_regex(quote) -%}
    {%- set separator = spark_cdc._escaped_regex(spark_cdc._reader_option(entity, ['sep', 'delimiter'], ',').replace('\\t', '\t')) -%}
    {%- set start, end = '(^|' ~ separator ~ ')' ~ ('\\s*' if is_trimmed else ''), '(?=\\s*(' ~ separator ~ '|\\z))' -%}
    {%- set open, inner = start ~ q, '[^' ~ q ~ ']*' -%}
    {%- set has_quote = 'contains(value, ' ~ spark_cdc._literal(quote) ~ ')' -%}
    {#- the line without pairs that stand for a quote; beside `and` Spark makes it of every line -#}
    {%- set text = namespace(sql='value') -%}
    {%- for pair in ([quote ~ quote] if escape == quote else [escape ~ escape, escape ~ quote] if escape else []) -%}
        {%- set text.sql = 'replace(' ~ text.sql ~ ', ' ~ spark_cdc._literal(pair) ~ ", '')" -%}
    {%- endfor -%}
    {%- if spark_cdc._csv_is_multi_line(entity) -%}
        {%- set doubled = '(' ~ q ~ '{3}|' ~ open ~ inner ~ '[^' ~ q ~ '](?<!' ~ separator ~ ')' ~ q ~ '{2})' -%}
        {{ return({
            'open': 'if(' ~ has_quote ~ ', regexp_count(' ~ text.sql ~ ', ' ~ spark_cdc._literal(open ~ '|' ~ q ~ end) ~ '), 0)',
            'unescaped': 'if(' ~ has_quote ~ ', ' ~ text.sql ~ ' rlike ' ~ spark_cdc._literal(doubled ~ end) ~ ', false)',
        }) }}
    {%- endif -%}
    {%- set unclosed = ' rlike ' ~ spark_cdc._literal(open ~ inner ~ '\\z') -%}
    {{ return({
        'rest': 'if(' ~ has_quote ~ ', regexp_replace(' ~ text.sql ~ ', ' ~ spark_cdc._literal(open ~ inner ~ q ~ end) ~ ", '\\u00241'), null)",
        'open': 'if(rest' ~ unclosed ~ ', if(' ~ text.sql ~ unclosed ~ ', 1, 0), 0)',
        'unescaped': 'rest rlike ' ~ spark_cdc._literal(open ~ inner ~ q),
    }) }}
{%- endmacro -%}


{#- A view on CSV files with the columns of their header, as text, and cdc__unparsed: the text of
    a row that has other fields. -#}
{%- macro _csv_view_sql(entity, times, found, view) -%}
{%- set options = {'enforceSchema': 'false', 'mode': 'PERMISSIVE', 'columnNameOfCorruptRecord': 'cdc__unparsed'} -%}
{%- if spark_cdc._csv_is_multi_line(entity) -%}
    {#- else a quote that is not closed ends at the next one, lines further on -#}
    {%- set handling = spark_cdc._reader_option(entity, ['unescapedquotehandling'], 'RAISE_ERROR') -%}
    {%- do options.update({'unescapedQuoteHandling': handling}) -%}
{%- endif -%}
create or replace temporary view {{ view }} (
    {% for column in found -%}
    {{ spark_cdc._quote(column.col_name) }} string,
    {% endfor -%}
    cdc__unparsed string
)
using csv
options (
    {{ spark_cdc._reader_options(entity, times, options) | join(',\n    ') }}
)
{%- endmacro -%}


{#- An entity once per line end of its files, each with the files that have it and with lineSep; the
    entity itself where Spark need not be told. Of CSV whose values may hold line breaks Spark would
    go by the first line break of a file, be it in a value, and leave a carriage return in the last
    column; with lineSep it takes a value's line breaks as they are.
    Returns a dictionary: parts (a list of entities), refusal ({guard, message} where the records of
    one file end in more than one way, or none). -#}
{%- macro _line_ends(entity, times) -%}
    {%- if not spark_cdc._csv_is_multi_line(entity) or spark_cdc._reader_option(entity, ['linesep'], '') -%}
        {{ return({'parts': [entity], 'refusal': none}) }}
    {%- endif -%}
    {%- set groups, mixed, chosen, view = {}, [], {}, spark_cdc._landed_view(entity) ~ '_lines' -%}
    {%- for name, value in entity.source.options.items()
            if name | lower in ['encoding', 'charset', 'pathglobfilter', 'modifiedbefore', 'modifiedafter'] -%}
        {%- do chosen.update({name: value}) -%}
    {%- endfor -%}
    {#- lines without regard to quotes: the separator is no character -#}
    {%- set reading = {'header': 'false', 'multiLine': 'true', 'lineSep': '\n', 'sep': '\uffff', 'quote': '', 'escape': ''} -%}
    {%- do spark_cdc._send('create or replace temporary view ' ~ view ~ ' (value string)\nusing csv\noptions (\n    '
        ~ spark_cdc._reader_options(dict(entity, source=dict(entity.source, options=chosen)), times, reading) | join(',\n    ') ~ '\n)') -%}
    {%- for row in spark_cdc._query(spark_cdc._line_ends_sql(entity, times, view)) -%}
        {%- do groups.setdefault({'lf': '\n', 'crlf': '\r\n', 'cr': '\r'}[row.line_end], []).append(row.path) -%}
        {%- do mixed.append(row.path ~ ': ' ~ row.crlf ~ ' end with CRLF, ' ~ row.lf ~ ' with LF') if row.lf | int and row.crlf | int -%}
    {%- endfor -%}
    {%- set problem -%}
the records of a file do not all end alike in {{ spark_cdc._landing_input(entity, none, times[0]) }}, so that a carriage
return would get into their last column.
  {{ mixed[:5] | join('\n  ') }}
Deliver it with one line end, CRLF or LF; or leave out source.options.multiLine in stg_{{ entity.name }} if no value goes over several lines.
    {%- endset -%}
    {%- set parts = [] -%}
    {%- for line_end, paths in groups.items() -%}
        {%- set options = dict(entity.source.options, lineSep=line_end) -%}
        {%- if groups | length == 1 -%}
            {%- do parts.append(dict(entity, source=dict(entity.source, options=options))) -%}
        {%- else -%}
            {%- set of_paths = spark_cdc._path_options(entity, times, paths) -%}
            {%- set source = dict(entity.source, path=of_paths.pop('path'), options=dict(options, **of_paths)) -%}
            {%- do parts.append(dict(entity, name=entity.name ~ '_ends_' ~ loop.index, source=source)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return({'parts': parts, 'refusal': spark_cdc._load_refusal(entity, 'line_ends', problem) if mixed else none}) }}
{%- endmacro -%}


{#- Rows {path, line_end, lf, crlf} of the files, with how many records end so: a line break counts
    where as many quotes were opened as closed. What ends the last line is not known. A carriage
    return alone ends records only where nothing else does. -#}
{%- macro _line_ends_sql(entity, times, view) -%}
select
    found.path,
    coalesce(ends.first_end, if(ends.cr > 0, 'cr', null), ends.last_end, 'lf') as line_end,
    if(ends.is_closed, coalesce(ends.lf, 0), 0) as lf,
    if(ends.is_closed, coalesce(ends.crlf, 0), 0) as crlf
from (
    select
        path,
        input_file_name() as uri
    from {{ spark_cdc._direct_sql(entity, times, 'binaryFile') }}
) as found
left join (
    select
        uri,
        min_by(line_end, place) filter (where is_end and line_end <> 'cr') as first_end,
        count_if(is_end and line_end = 'lf') as lf,
        count_if(is_end and line_end = 'crlf') as crlf,
        count_if(is_end and line_end = 'cr') as cr,
        min(line_end) filter (where is_last) as last_end,
        sum(quotes) % 2 = 0 as is_closed
    from (
        select
            *,
            open_quotes % 2 = 0 and (not is_last or line_end = 'cr') as is_end
        from (
            select
                uri,
                struct(line, piece) as place,
                line_end,
                quotes,
                line = max(line) over (partition by uri) as is_last,
                sum(quotes) over (partition by uri order by line, piece) as open_quotes
            from (
                select
                    uri,
                    line,
                    piece,
                    if({{ spark_cdc._record_condition(entity) }}, {{ spark_cdc._csv_quotes(entity).open }}, 0) as quotes,
                    case
                        when piece = size(pieces) - 1 then if(piece > 0 and value = '', null, 'lf')
                        when piece = size(pieces) - 2 and pieces[piece + 1] = '' then 'crlf'
                        else 'cr'
                    end as line_end
                from (
                    select
                        input_file_name() as uri,
                        monotonically_increasing_id() as line,
                        split(coalesce(value, ''), '\r') as pieces
                    from {{ view }}
                )
                lateral view posexplode(pieces) as piece, value
            )
        )
    )
    group by uri
) as ends
    on found.uri = ends.uri
{%- endmacro -%}


{#- A query that reads text files once more, line by line, with a reader that shares no code with
    the one that loads them: the number of records, and the lines that the other would misread. Its
    row has the columns of _load_counts(): load_id, operation, row_count, note. The note is JSON,
    with examples by file:
        records    none where a line need not be a record
        unclosed   lines with a quote that is not closed; with multiLine, files that end within one
        unescaped  lines with a quote in a quoted value that is not escaped
        blank      rows that Spark skips
        malformed  lines with bytes that are not UTF-8
    Of several dates the query has a row for each. -#}
{%- macro _input_lines_sql(entity, times) -%}
{%- set is_csv, is_multi_line = entity.source.format == 'csv', spark_cdc._csv_is_multi_line(entity) -%}
{%- set quotes = spark_cdc._csv_quotes(entity) -%}
{#- whether a line without a visible character is a row nevertheless, of blank fields, which Spark
    skips: where the separator is none, or there is one column -#}
{%- set separator = spark_cdc._reader_option(entity, ['sep', 'delimiter'], ',').replace('\\t', '\t') if is_csv and not is_multi_line else '-' -%}
{%- set is_unseen = separator | list | select('gt', ' ') | list | length == 0 -%}
{%- set fields = 'contains(value, ' ~ spark_cdc._literal(separator) ~ ')' if is_unseen else "value <> ''" if entity.columns | length == 1 and is_csv and not is_multi_line -%}
{%- set blank = fields ~ " and not value rlike '[^\\\\x00-\\\\x20]'" if fields else 'false' -%}
{%- set headers = " - if(sum(records) > 0, 1, 0)" if is_csv and spark_cdc._csv_has_header(entity) -%}
select
    cast({{ 'position' if times | length > 1 else 'null' }} as string) as load_id,
    'lines' as operation,
    0 as row_count,
    to_json(struct(
        {{ 'null' if is_multi_line else 'coalesce(sum(records), 0)' }} as records,
        sum(unclosed) as unclosed,
        collect_list(unclosed_example) as unclosed_examples,
        sum(unescaped) as unescaped,
        collect_list(unescaped_example) as unescaped_examples,
        sum(blank) as blank,
        collect_list(blank_example) as blank_examples,
        sum(malformed) as malformed,
        collect_list(malformed_example) as malformed_examples
    )) as note
from (
    select
        path,
        sum(records){{ headers }} as records,
        {%- if is_multi_line %}
        sum(quotes) % 2 as unclosed,
        if(sum(quotes) % 2 = 1, max(path), null) as unclosed_example,
        {%- else %}
        sum(quotes) as unclosed,
        concat(max(path), ': ', min(if(quotes > 0, odd_line, null))) as unclosed_example,
        {%- endif %}
        sum(unescaped) as unescaped,
        concat(max(path), ': ', min(if(unescaped > 0, odd_line, null))) as unescaped_example,
        sum(blank) as blank,
        if(sum(blank) > 0, max(path), null) as blank_example,
        sum(malformed) as malformed,
        concat(max(path), ': ', min(if(malformed > 0, odd_line, null))) as malformed_example
    from (
        {#- numbers alone are summed up by hash; texts beside them would have the lines sorted #}
        select
            path,
            {#- a line that may be shown as an example #}
            if(is_malformed or is_unescaped{{ ' or quotes = 1' if not is_multi_line }}, left(format_string('%s', value), 200), null) as odd_line,
            count_if(is_record) as records,
            sum(if(is_record, quotes, 0)) as quotes,
            count_if(is_record and is_unescaped) as unescaped,
            count_if(is_blank) as blank,
            count_if(is_malformed) as malformed
        from (
            select
                value,
                path,
                {{ spark_cdc._record_condition(entity) }} as is_record,
                {{ quotes.open | indent(16) }} as quotes,
                {{ quotes.unescaped }} as is_unescaped,
                {{ blank }} as is_blank,
                {{ "format_string('%s', value) <> value" if is_csv and spark_cdc._csv_encoding(entity) == 'utf-8' else 'false' }} as is_malformed
            from (
                select value, _metadata.file_path as path{{ ', ' ~ quotes.rest ~ ' as rest' if 'rest' in quotes }}
                from {{ spark_cdc._direct_sql(entity, times, 'text', ['linesep']) }}
            )
        )
        group by path, odd_line
    )
    group by path
)
{{- spark_cdc._by_date_sql(entity, times) }}
{%- endmacro -%}


{#- The rows that came in, counted without reading a column: of tables, typed files, and text in
    which a line need not be a row. -#}
{%- macro _count_input(entity, time) -%}
    {%- set landing = spark_cdc._landing_source(entity) -%}
    {%- set read = spark_cdc._date_column_found(entity, landing) if entity.source.format == 'table' else entity -%}
    {%- do spark_cdc._set_for_reading(entity) -%}
    {%- set blank_lines = " where trim(value) <> ''" if entity.source.format == 'json' else '' -%}
    {%- set counts = [] -%}
    {%- for part in spark_cdc._line_ends(read, [time]).parts -%}
        {%- do spark_cdc._send(spark_cdc._files_view_sql(part, landing, [time])) -%}
        {%- do counts.append('select count(*) as row_count from ' ~ spark_cdc._files_view(part) ~ blank_lines) -%}
    {%- endfor -%}
    {{ return(spark_cdc._query(counts | join(' union all ')) | map(attribute='row_count') | map('int') | sum) }}
{%- endmacro -%}


{#- A message, ready to be parsed. from_json reads a number with a point as a double, which keeps 15
    digits, and text as it is: so where a column is a decimal with more digits than that, long
    numbers with a point are put between quotes. Only messages that hold one pay for it. Nothing
    inside a text of the message is touched.
    Arguments: entity, message (expression). Returns an expression. -#}
{%- macro _json_document(entity, message) -%}
{%- set types = entity.columns | rejectattr('encoding') | map(attribute='data_type') | join(' ') -%}
{%- set digits = [0] -%}
{%- for rest in types.replace(' ', '').split('decimal(')[1:] -%}{%- do digits.append(rest.split(',')[0].split(')')[0] | int) -%}{%- endfor -%}
{%- if digits | max <= 15 -%}
{{ message }}
{%- else -%}
{#- more than 15 digits and a point: there are 8 digits on one side of it -#}
{%- set long = '[.](?:[0-9]{8}|(?<=[0-9]{8}[.])[0-9])' -%}
{%- set number = '(?<![0-9.])(?=[0-9.]{17})(?=[0-9]*+[.][0-9])' -%}
{#- a text, or a long number with the next quote: $3 is that quote, and nothing where a text was
    found; all quantifiers are possessive, so that no message makes the search slow -#}
{%- set pattern = '("[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+")|(-?+' ~ number ~ '[0-9]++[.][0-9]++(?:[eE][+-]?+[0-9]++)?+)(?=[^"]*+("))' -%}
if({{ message }} rlike {{ spark_cdc._literal(long) }}, {# -#}
regexp_replace(concat({{ message }}, ' "'), {{ spark_cdc._literal(pattern) }}, '$1$3$2$3'), {{ message }})
{%- endif -%}
{%- endmacro -%}


{#- The columns of what landed as they are read. One of another type than declared whose values are
    all null is read as null (is_null): programs have no type for a column without a value.
    Arguments: entity, files, folders (of _folder_columns()). Returns a dictionary:
        found    of _found_columns()
        schemas  of _file_schemas(); none of a single file, of text and of tables -#}
{%- macro _found_as_read(entity, files, folders) -%}
    {%- set is_typed = entity.source.format not in ['csv', 'json'] and not (entity.events and entity.events.is_message) -%}
    {%- set found = spark_cdc._folder_columns_found(entity, spark_cdc._found_columns(entity), folders) -%}
    {%- set schemas = spark_cdc._file_schemas(entity, files.paths, found, folders) if is_typed and files and files.files > 1 else none -%}
    {%- set lossy, counts = spark_cdc._lossy_columns(entity, found) if is_typed and (schemas or []) | length <= 1 else [], [] -%}
    {%- for one in lossy -%}
        {%- do counts.append('count(' ~ spark_cdc._quote(one.found.col_name) ~ ') as values_' ~ loop.index) -%}
    {%- endfor -%}
    {%- set row = spark_cdc._query('select ' ~ counts | join(', ') ~ ' from ' ~ spark_cdc._files_view(entity))[0] if lossy else {} -%}
    {%- for one in lossy -%}
        {%- do one.found.update({'data_type': one.type, 'is_null': true} if row['values_' ~ loop.index] | int == 0 else {}) -%}
    {%- endfor -%}
    {{ return({'found': found, 'schemas': schemas}) }}
{%- endmacro -%}


{#- Lets the session read more encodings than the seven of Spark 4, and nanoseconds in Parquet,
    which pandas writes, as numbers (encoding: nanos). -#}
{%- macro _set_for_reading(entity) -%}
    {%- set plain = ['iso-8859-1', 'us-ascii', 'utf-16', 'utf-16be', 'utf-16le', 'utf-32', 'utf-8'] -%}
    {%- if entity.source.format == 'parquet' -%}
        {%- do spark_cdc._send('set spark.sql.legacy.parquet.nanosAsLong = true') -%}
    {%- elif entity.source.format == 'csv' and spark_cdc._reader_option(entity, ['encoding', 'charset'], 'utf-8') | lower not in plain -%}
        {%- do spark_cdc._send('set spark.sql.legacy.javaCharsets = true') -%}
    {%- endif -%}
{%- endmacro -%}
