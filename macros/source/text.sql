{%- macro _csv_has_header(entity) -%}{{ return(spark_cdc._reader_option(entity, ['header'], true) | string | lower == 'true') }}{%- endmacro -%}


{%- macro _csv_is_multi_line(entity) -%}
    {{ return(entity.source.facts.has_header and spark_cdc._reader_option(entity, ['multiline'], false) | string | lower == 'true') }}
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
    {%- if not entity.source.facts.has_header or not quote -%}{{ return({'open': '0', 'unescaped': 'false'}) }}{%- endif -%}
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
{%- set columns = [] -%}
{%- for column in found -%}{%- do columns.append(spark_cdc._quote(column.col_name) ~ ' string') -%}{%- endfor -%}
{%- do columns.append('cdc__unparsed string') -%}
{%- set options = spark_cdc._reader_options(entity, times, options) -%}
{{ spark_cdc._reader_view_sql('temporary view ' ~ view, entity.source.facts.reader, options, columns) }}
{%- endmacro -%}


{#- Checks that the CSV files of a date have one header: Spark would stop, in the middle of a load,
    at a file whose header has other names, or the same in another order. Of many large files this
    is left to Spark.
    Arguments: entity, input (in words), time, files (of _input_files()), folders (of
    _folder_columns()). Returns none, or a refusal. -#}
{%- macro _check_headers(entity, input, time, files, folders) -%}
    {%- if not entity.source.facts.has_header or not files or files.files < 2 or not spark_cdc._csv_has_header(entity) -%}{{ return(none) }}{%- endif -%}
    {%- set headers, view, groups = {}, spark_cdc._files_view(entity) ~ '_header', spark_cdc._files_by_first_line(entity, time, files) -%}
    {%- for paths in groups if groups | length > 1 -%}
        {%- set of_path = spark_cdc._path_options(entity, [time], paths[:1]) -%}
        {%- do spark_cdc._send(spark_cdc._files_view_sql(entity, none, [time], of_path, view)) -%}
        {%- set names = [] -%}
        {%- for column in spark_cdc._describe(view) if column.col_name | lower not in folders -%}
            {%- do names.append(column.col_name | trim('\r')) -%}
        {%- endfor -%}
        {%- set header = headers.setdefault(tojson(names | map('lower') | list), {'names': names, 'paths': []}) -%}
        {%- do header.paths.extend(paths) -%}
    {%- endfor -%}
    {%- if headers | length <= 1 -%}{{ return(none) }}{%- endif -%}
    {%- set declared, shown, bare = entity.columns | map(attribute='from') | map('lower') | list, [], [] -%}
    {%- for header in headers.values() | sort(attribute='paths') -%}
        {%- set others = header.paths | length - 1 -%}
        {%- set is_bare = header.names | map('lower') | select('in', declared) | list | length == 0 -%}
        {%- do bare.append(header) if is_bare -%}
        {%- do shown.append(header.paths[0] ~ (' and ' ~ spark_cdc._counted(others, 'other') if others) ~ ': '
            ~ spark_cdc._names_shown(header.names)[:500] ~ (' (no header?)' if is_bare)) -%}
    {%- endfor -%}
    {%- set problem -%}
the {{ input }} have {{ headers | length }} different headers.
  {{ shown[:5] | join('\n  ') }}
{% if bare -%}
Deliver each file with the header,
{%- else -%}
Deliver all files with the same names in the same order,
{%- endif %} or land the files of each kind in a folder, and as an entity, of their own.
    {%- endset -%}
    {{ return(spark_cdc._load_refusal(entity, 'headers', problem)) }}
{%- endmacro -%}


{#- The paths of CSV files, in a list for each first line that occurs; each file in its own list
    if they are too large to look at all lines. No list of many such files. -#}
{%- macro _files_by_first_line(entity, time, files) -%}
    {%- if files.bytes > 2 ** 26 -%}{{ return(files.paths | batch(1) | list if files.files <= 100 else []) }}{%- endif -%}
    {%- set sql -%}
select to_json(sort_array(collect_list(path))) as paths
from (
    select
        path,
        min_by(value, place) as header
    from (
        select
            value,
            {{ spark_cdc._of_file('path') }} as path,
            struct({{ spark_cdc._of_file('block_start') }} as block, monotonically_increasing_id() as line) as place
        from {{ spark_cdc._direct_sql(entity, [time], 'text', ['linesep']) }}
    )
    where {{ spark_cdc._record_condition(entity) }}
    group by path
)
group by header
    {%- endset -%}
    {%- set groups = [] -%}
    {%- for row in spark_cdc._query(sql) -%}{%- do groups.append(fromjson(row.paths)) -%}{%- endfor -%}
    {{ return(groups) }}
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
    {%- set files = spark_cdc._line_ends_found(entity, times) -%}
    {%- set groups, parts, mixed = {}, [], [] -%}
    {%- for file in files -%}
        {%- do groups.setdefault({'lf': '\n', 'crlf': '\r\n', 'cr': '\r'}[file.line_end], []).append(file.path) -%}
        {%- set counts = [] -%}
        {%- for name in ['crlf', 'lf', 'cr'] if file[name] -%}
            {%- do counts.append(file[name] ~ (' with ' if counts else ' end with ') ~ name | upper) -%}
        {%- endfor -%}
        {%- do mixed.append(file.path ~ ': ' ~ counts | join(', ')) if file.is_mixed -%}
    {%- endfor -%}
    {%- for line_end, paths in groups.items() -%}
        {%- set options = dict(entity.source.options, lineSep=line_end) -%}
        {%- if groups | length == 1 -%}
            {%- do parts.append(dict(entity, source=dict(entity.source, options=options))) -%}
        {%- else -%}
            {%- set of_paths = spark_cdc._path_options(entity, times, paths) -%}
            {%- set source = dict(entity.source, read_path=of_paths.pop('path'), options=dict(options, **of_paths)) -%}
            {%- do parts.append(dict(entity, name=entity.name ~ '_ends_' ~ loop.index, source=source)) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set problem -%}
the records of a file do not all end alike in {{ spark_cdc._landing_input(entity, none, times[0]) }}, so that a carriage
return would get into their last column.
  {{ mixed[:5] | join('\n  ') }}
Deliver it with one line end, CRLF or LF; or leave out source.options.multiLine in stg_{{ entity.name }} if no value goes over several lines.
    {%- endset -%}
    {{ return({'parts': parts, 'refusal': spark_cdc._load_refusal(entity, 'line_ends', problem) if mixed else none}) }}
{%- endmacro -%}


{#- How the records of each file end.
    Returns a list of dictionaries, one per file:
        path
        line_end      lf, crlf or cr: the one to read it by
        lf, crlf, cr  how many records end so
        is_mixed      whether a line break would get into a value by that line end -#}
{%- macro _line_ends_found(entity, times) -%}
    {%- do spark_cdc._send(spark_cdc._csv_lines_view_sql(entity, times, '\n')) -%}
    {%- set files, unclear = [], {'\r\n': [], '\r': []} -%}
    {%- for row in spark_cdc._query(spark_cdc._line_ends_sql(entity, times)) -%}
        {%- set lf, crlf = row.lf | int, row.crlf | int -%}
        {#- where lines end otherwise, a carriage return alone is part of a value -#}
        {%- set file = {
            'path': row.path, 'uri': row.uri, 'lf': lf, 'crlf': crlf, 'cr': 0 if lf or crlf else row.cr | int,
            'first_end': row.first_end, 'last_end': row.last_end, 'is_closed': row.is_closed,
        } -%}
        {%- do files.append(file) -%}
        {#- a large file with LF, which is refused anyway, would be one line by another line end -#}
        {%- set is_unclear = row.last_end == 'crlf' or (row.last_end == 'lf' and file.cr) -%}
        {%- do unclear['\r\n' if crlf and not lf else '\r'].append(file) if is_unclear and (not lf or row.bytes | int <= 2 ** 24) -%}
    {%- endfor -%}
    {%- for line_end, some in unclear.items() if some -%}
        {%- do spark_cdc._line_ends_told(entity, times, line_end, some, some | length == files | length) -%}
    {%- endfor -%}
    {%- for file in files -%}
        {%- set has_crlf_alone = file.crlf and not file.lf -%}
        {%- set line_end = file.first_end or ('cr' if file.cr else file.last_end or 'lf') -%}
        {%- do file.update({file.last_end: file[file.last_end] + 1} if file.last_end else {}) -%}
        {%- set kinds = [file.lf, file.crlf, file.cr] | select | list | length -%}
        {#- after CRLF Spark takes LF at the end of a file for a line end as well -#}
        {%- set is_fine = kinds <= 1 or (has_crlf_alone and file.last_end == 'lf') or not file.is_closed -%}
        {%- do file.update({'line_end': line_end, 'is_mixed': not is_fine}) -%}
    {%- endfor -%}
    {{ return(files) }}
{%- endmacro -%}


{#- Puts into files with what their last record ends: last_end becomes lf, crlf, cr or none. The
    reader drops the line end of a file; with another line end it shows what is left of it.
    Arguments: line_end (that other one), files (of _line_ends_found()), is_all (whether there are
    no others). -#}
{%- macro _line_ends_told(entity, times, line_end, files, is_all) -%}
    {%- set of_paths = {} if is_all else spark_cdc._path_options(entity, times, files | map(attribute='path') | list) -%}
    {%- do spark_cdc._send(spark_cdc._csv_lines_view_sql(entity, times, line_end, of_paths)) -%}
    {%- set sql -%}
select
    uri,
    max_by(right(value, 1), line) as last
from (
    select
        {{ spark_cdc._csv_line_file() }} as uri,
        monotonically_increasing_id() as line,
        value
    from {{ spark_cdc._csv_lines_view(entity) }}
)
group by uri
    {%- endset -%}
    {%- set last = {} -%}
    {%- for row in spark_cdc._query(sql) -%}{%- do last.update({row.uri: row.last}) -%}{%- endfor -%}
    {%- for file in files -%}
        {%- set has_lf = last.get(file.uri) != '\r' if line_end == '\r\n' else last.get(file.uri) == '\n' -%}
        {%- set ends = ['cr', 'crlf'] if file.last_end == 'crlf' else [none, 'lf'] -%}
        {%- do file.update({'last_end': ends[1 if has_lf else 0]}) -%}
    {%- endfor -%}
{%- endmacro -%}


{%- macro _csv_lines_view(entity) -%}{{ return(spark_cdc._landed_view(entity) ~ '_lines') }}{%- endmacro -%}


{#- The file of a row of it. -#}
{%- macro _csv_line_file() -%}{{ return(spark_cdc._file_name_sql() if spark_cdc._platform().knows_in_views else 'uri') }}{%- endmacro -%}


{#- A view on the lines of CSV files without regard to quotes: the separator is no character. -#}
{%- macro _csv_lines_view_sql(entity, times, line_end, more={}) -%}
{%- set chosen = {} -%}
{%- for name, value in entity.source.options.items()
        if name | lower in ['encoding', 'charset', 'pathglobfilter', 'modifiedbefore', 'modifiedafter'] -%}
    {%- do chosen.update({name: value}) -%}
{%- endfor -%}
{%- set reading = {'header': 'false', 'multiLine': 'true', 'lineSep': line_end, 'sep': '\uffff', 'quote': '', 'escape': ''} -%}
{%- set options = spark_cdc._reader_options(dict(entity, source=dict(entity.source, options=chosen)), times, dict(reading, **more)) -%}
{%- set view, reader = spark_cdc._csv_lines_view(entity), entity.source.facts.reader -%}
{%- if spark_cdc._platform().knows_in_views -%}
{{ spark_cdc._reader_view_sql('temporary view ' ~ view, reader, options, ['value string']) }}
{%- else -%}
create or replace temporary view {{ view }} as
select
    _c0 as value,
    {{ spark_cdc._file_name_sql() }} as uri
from {{ reader }}.`{{ (more.path | default(spark_cdc._landing_path(entity, times))).replace('`', '``') }}` with (
    {{ options[1:] | join(',\n    ') }}
)
{%- endif -%}
{%- endmacro -%}


{#- Rows {path, uri, bytes, first_end, lf, crlf, cr, last_end, is_closed} of the files, with how
    many records end so, and with what the first one does that does not end with CR. A line break
    counts where as many quotes were opened as closed; that of a comment, too, since Spark skips all
    up to the next one. Of the last record last_end is crlf if it ends with CRLF or CR, and lf if
    with LF or nothing; it is not counted. -#}
{%- macro _line_ends_sql(entity, times) -%}
select
    found.path,
    found.uri,
    found.bytes,
    ends.first_end,
    coalesce(ends.lf, 0) as lf,
    coalesce(ends.crlf, 0) as crlf,
    coalesce(ends.cr, 0) as cr,
    ends.last_end,
    coalesce(ends.is_closed, true) as is_closed
from (
    select
        path,
        length as bytes,
        {{ spark_cdc._file_name_sql() }} as uri
    from {{ spark_cdc._direct_sql(entity, times, 'binaryFile') }}
) as found
left join (
    select
        uri,
        min_by(line_end, place) filter (where is_end and line_end <> 'cr') as first_end,
        count_if(is_end and line_end = 'lf') as lf,
        count_if(is_end and line_end = 'crlf') as crlf,
        count_if(is_end and line_end = 'cr') as cr,
        max_by(if(is_outside, line_end, null), place) filter (where is_last and line_end is not null) as last_end,
        sum(quotes) % 2 = 0 as is_closed
    from (
        select
            *,
            is_outside and (not is_last or line_end = 'cr') as is_end
        from (
            select
                uri,
                struct(line, piece) as place,
                line_end,
                quotes,
                line = max(line) over (partition by uri) as is_last,
                sum(quotes) over (partition by uri order by line, piece) % 2 = 0 as is_outside
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
                        {{ spark_cdc._csv_line_file() }} as uri,
                        monotonically_increasing_id() as line,
                        split(coalesce(value, ''), '\r') as pieces
                    from {{ spark_cdc._csv_lines_view(entity) }}
                )
                lateral view posexplode(pieces) as piece, value
            )
        )
    )
    group by uri
) as ends
    on found.uri = ends.uri
{%- endmacro -%}


{#- Whether JSON files hold arrays or objects over several lines. -#}
{%- macro _json_is_multi_line(entity) -%}
    {{ return(entity.source.facts.has_names and spark_cdc._reader_option(entity, ['multiline'], false) | string | lower == 'true') }}
{%- endmacro -%}


{#- The texts of JSON files, each as a whole, as a query:
        path
        text          without the mark of UTF-8 and the blanks around
        is_malformed  whether it has bytes that are not UTF-8
        is_whole      whether it is one array, or objects one after the other
        item, object  regular expressions of an element of an array, and of an object
    Brackets are counted, down to 50 levels; that they are of one kind, and all else, is left to the
    parser of the elements. A parser of arrays would drop digits, and names that come twice. -#}
{%- macro _json_documents_sql(entity, times) -%}
{%- set options = ["wholetext = 'true'", "ignoreCorruptFiles = 'false'", "ignoreMissingFiles = 'false'"] + spark_cdc._direct_options(entity) -%}
{%- set text, blank = '"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"|', '[ \\t\\r\\n]*+' -%}
select
    *,
    not is_malformed and text rlike if(
        startswith(text, '['),
        concat({{ spark_cdc._literal('(?s)\\A\\[' ~ blank ~ '(?:') }}, item, '(?:,', item, {{ spark_cdc._literal(')*+)?+\\]\\z') }}),
        concat({{ spark_cdc._literal('(?s)\\A(?:') }}, object, {{ spark_cdc._literal(blank ~ ')*+\\z') }})
    ) as is_whole
from (
    select
        *,
        concat('(?s)(?=[{])', nested) as object,
        concat({{ spark_cdc._literal('(?s)(?=' ~ blank ~ '[^ \\t\\r\\n,\\]])(?:[^"\\[\\]{},]++|' ~ text) }}, nested, ')++') as item
    from (
        select
            {{ spark_cdc._of_file('path') }} as path,
            trim(both ' \t\r\n' from if(startswith(value, '\ufeff'), substring(value, 2), value)) as text,
            format_string('%s', value) <> value as is_malformed,
            concat(
                repeat({{ spark_cdc._literal('[\\[{](?:[^"\\[\\]{}]++|' ~ text) }}, 50), '(?!)', repeat({{ spark_cdc._literal(')*+[\\]}]') }}, 50)
            ) as nested
        from text.`{{ spark_cdc._landing_path(entity, times).replace('`', '``') }}` with ({{ options | join(', ') }})
    )
)
{%- endmacro -%}


{#- The elements of arrays, and objects one after the other, as texts: a query with value. A file
    that is damaged is one value, which is refused. -#}
{%- macro _json_elements_sql(entity, times) -%}
select explode(case
    when not is_whole then array(text)
    when startswith(text, '[')
        then transform(regexp_extract_all(substring(text, 2, length(text) - 2), item, 0), one -> trim(both ' \t\r\n' from one))
    else regexp_extract_all(text, object, 0)
end) as value
from (
    {{ spark_cdc._json_documents_sql(entity, times) | indent(4) }}
)
{%- endmacro -%}


{#- The same as _input_lines_sql() of JSON files that are read as a whole: damaged says how many are
    neither one array nor objects one after the other. -#}
{%- macro _input_documents_sql(entity, times) -%}
select
    cast({{ 'position' if times | length > 1 else 'null' }} as string) as load_id,
    'lines' as operation,
    0 as row_count,
    to_json(struct(
        count_if(is_malformed) as malformed,
        collect_list(if(is_malformed, path, null)) as malformed_examples,
        count_if(not is_malformed and not is_whole) as damaged,
        collect_list(if(not is_malformed and not is_whole, concat(path, ': ', left(text, 100)), null)) as damaged_examples
    )) as note
from (
    {{ spark_cdc._json_documents_sql(entity, times) | indent(4) }}
)
{{- spark_cdc._by_date_sql(entity, times) }}
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
{%- set is_csv, is_multi_line = entity.source.facts.has_header, spark_cdc._csv_is_multi_line(entity) -%}
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
                select value, {{ spark_cdc._of_file('path') }} as path{{ ', ' ~ quotes.rest ~ ' as rest' if 'rest' in quotes }}
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
    {%- set read = spark_cdc._date_column_found(entity, landing) if entity.source.facts.reads == 'table' else entity -%}
    {%- do spark_cdc._set_for_reading(entity) -%}
    {%- set blank_lines = " where trim(value) <> ''" if entity.source.facts.has_names else '' -%}
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
    {%- set is_typed = not entity.source.facts.is_text and not (entity.events and entity.events.is_message) -%}
    {%- set found = spark_cdc._folder_columns_found(entity, spark_cdc._found_columns(entity), folders) -%}
    {%- set several = is_typed and files and files.files > 1 and not spark_cdc._has_reader_schema(entity) -%}
    {%- set schemas = spark_cdc._file_schemas(entity, files.paths, found, folders) if several else none -%}
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
    {%- for name, value in entity.source.facts.settings.items() -%}{%- do spark_cdc._set(name, value) -%}{%- endfor -%}
    {%- if entity.source.facts.has_header and spark_cdc._reader_option(entity, ['encoding', 'charset'], 'utf-8') | lower not in plain -%}
        {%- do spark_cdc._set('spark.sql.legacy.javaCharsets', 'true') -%}
    {%- endif -%}
{%- endmacro -%}
