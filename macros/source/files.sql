{%- macro _files_view(entity) -%}{{ return('landed_' ~ entity.name ~ '_files') }}{%- endmacro -%}


{#- A temporary view of the source: the rows of a table for some business times, of its change feed,
    or the files: of CSV and typed formats with the columns that Spark finds, of JSON with the lines
    as text, or with multiLine the elements of arrays.
    Arguments: entity, landing (of a table), times, more (options of the reader), view (another name
    for it). -#}
{%- macro _files_view_sql(entity, landing, times, more={}, view=none) -%}
{%- set facts, name = entity.source.facts, view or spark_cdc._files_view(entity) -%}
{%- if facts.reads == 'files' and not spark_cdc._json_is_multi_line(entity) -%}
{%- set columns = [] -%}
{%- for column in entity.columns if facts.has_header and not spark_cdc._csv_has_header(entity) -%}
    {%- do columns.append(spark_cdc._quote(column.from) ~ ' string') -%}
{%- endfor -%}
{{ spark_cdc._reader_view_sql('temporary view ' ~ name, facts.reader, spark_cdc._reader_options(entity, times, more), columns or none) }}
{%- else -%}
create or replace temporary view {{ name }} as
{% if facts.reads == 'table' -%}
select *
from {{ landing }}
{{ 'where ' ~ spark_cdc._date_column_condition(entity, times) if not spark_cdc._reads_whole_table(entity.source) }}
{%- elif facts.reads == 'feed' -%}
{{ spark_cdc._change_feed_adapter(entity, 'sql')(entity, entity.source.feed, entity.events.format == 'full_snapshot') }}
{%- else -%}
{{ spark_cdc._json_elements_sql(entity, times) }}
{%- endif -%}
{%- endif -%}
{%- endmacro -%}


{#- Options of a reader for some of an entity's files, by a pattern of their names. Folders named
    column=value stay columns. -#}
{%- macro _path_options(entity, times, paths) -%}
    {%- set folder = namespace(path=paths[0].rsplit('/', 1)[0] ~ '/') -%}
    {%- for path in paths -%}
        {%- for step in folder.path.split('/') if not path.startswith(folder.path) -%}
            {%- set folder.path = folder.path.rstrip('/').rsplit('/', 1)[0] ~ '/' -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set names, root = [], spark_cdc._landing_path(entity, times) -%}
    {%- for path in paths -%}{%- do names.append(spark_cdc._as_pattern(path[folder.path | length:])) -%}{%- endfor -%}
    {{ return(dict(
        {'basePath': root} if '=' in paths | join and '*' not in spark_cdc._with_stars(root) else {},
        path=spark_cdc._as_pattern(folder.path) ~ '{' ~ names | join(',') ~ '}',
    )) }}
{%- endmacro -%}


{#- A path as a pattern that stands for nothing but itself. -#}
{%- macro _as_pattern(path) -%}{{ return(spark_cdc._escaped(path, '\\{}[]*?,')) }}{%- endmacro -%}


{#- A path in which a star stands for each part that is a pattern: in/{a,b}/day?.csv becomes
    in/*/day*.csv. -#}
{%- macro _with_stars(path) -%}
    {%- set at = namespace(path='', end='') -%}
    {%- for character in path -%}
        {%- if at.end -%}
            {%- set at.end = '' if character == at.end else at.end -%}
        {%- else -%}
            {%- set at.end = {'{': '}', '[': ']'}.get(character, '') -%}
            {%- set at.path = at.path ~ ('*' if character in '{[*?' else character) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(at.path) }}
{%- endmacro -%}


{#- The folder of a business date: {business_date} in the path becomes 2019-06-19 (2019-06-19T001500
    where loads are finer than a day), {business_date:%Y/%m/%d} whatever strftime makes of it. The
    folders of several dates are one pattern. Argument: path (the one of the YAML for messages;
    none for the one that the server reads). -#}
{%- macro _landing_path(entity, times, path=none) -%}
    {%- set parts, rests = spark_cdc._landing_path_parts(entity, path or entity.source.read_path), [] -%}
    {%- for time in (times if parts | length > 1 else times[:1]) -%}
        {%- set rest -%}
            {%- for part in parts[1:] -%}{{ time.strftime(part) if loop.index is odd else part }}{%- endfor -%}
        {%- endset -%}
        {%- do rests.append(rest) -%}
    {%- endfor -%}
    {{ return(parts[0] ~ (rests[0] if rests | length == 1 else '{' ~ rests | map('trim', '/') | join(',') ~ '}')) }}
{%- endmacro -%}


{#- Splits a path at its business dates.
    Returns a list: text, pattern of strftime, text, and so on. -#}
{%- macro _landing_path_parts(entity, path) -%}
    {%- set default = '%Y-%m-%d' if entity.eff_type == 'date' else '%Y-%m-%dT%H%M%S' -%}
    {%- set parts = [] -%}
    {%- for piece in path.split('{business_date') -%}
        {%- set pattern, is_date, text = piece.partition('}') -%}
        {%- if loop.first -%}
            {%- do parts.append(piece) -%}
        {%- elif is_date and (not pattern or pattern[0] == ':' and '{' not in pattern) -%}
            {%- do parts.extend([pattern[1:] or default, text]) -%}
        {%- else -%}
            {%- do parts.append(parts.pop() ~ '{business_date' ~ piece) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(parts) }}
{%- endmacro -%}


{#- The relation of the dbt source, or of the model, that an entity's staging reads. -#}
{%- macro _landing_source(entity) -%}
    {%- for known in [graph.sources, graph.nodes] -%}
        {%- for unique_id in spark_cdc.entity_node(entity.name).depends_on.nodes if unique_id in known -%}
            {{ return(spark_cdc._relation_in(known[unique_id].schema, known[unique_id].get('identifier') or known[unique_id].alias)) }}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- The input of a load in words, for messages and for cdc_loads. -#}
{%- macro _landing_input(entity, landing, time) -%}
    {%- if entity.source.get('history') -%}
        {{ return('the history ' ~ entity.source.history) }}
    {%- elif landing == spark_cdc._kept_view(entity) -%}
        {{ return('the input that was kept of ' ~ spark_cdc._time_text(entity, time)) }}
    {%- elif spark_cdc._reads_whole_table(entity.source) -%}
        {{ return('table ' ~ landing ~ ' as it is now') }}
    {%- elif entity.source.facts.reads == 'table' -%}
        {{ return('table ' ~ landing ~ ' where ' ~ entity.source.date_column ~ ' is ' ~ spark_cdc._time_text(entity, time)) }}
    {%- elif entity.source.facts.reads == 'feed' -%}
        {{ return(spark_cdc._change_feed_text(entity)) }}
    {%- endif -%}
    {{ return(entity.source.format ~ ' files of ' ~ spark_cdc._landing_path(entity, [time], entity.source.path)) }}
{%- endmacro -%}


{#- What the pattern `folder/*` finds, with the folder. Spark's readers do not list files of 0
    bytes, but the plan of a query has all paths that match a pattern. Spark looks at each of them,
    which costs time.
    Returns a dictionary: is_there (whether there is anything), missing (else the path, as Spark has
    it), refusal (why Spark can't list it, or none), count and paths (of _plan_paths()). -#}
{%- macro _found_by_pattern(entity, times) -%}
    {%- set path = spark_cdc._landing_path(entity, times).rstrip('/').replace('`', '``') -%}
    {#- the second query has the folders column=value as readers see them: those of two kinds are no
        table -#}
    {%- set folders = '\nunion all\nselect 1 from ' ~ spark_cdc._direct_sql(entity, times, 'binaryFile') if times | length == 1 -%}
    {%- set plan = spark_cdc._plan('select 1 from text.`' ~ path ~ '{,/*}`' ~ folders) -%}
    {%- set is_there = 'PATH_NOT_FOUND' not in plan -%}
    {{ return(dict(spark_cdc._plan_paths(plan), is_there=is_there, refusal=spark_cdc._plan_refusal(plan) if is_there else none,
        missing=(spark_cdc._plan_missing_path(plan) or '').removesuffix('{,/*}'))) }}
{%- endmacro -%}


{#- The folder of a business date as Spark lists it: _without_scheme(), which all listed paths
    contain. -#}
{%- macro _entries_folder(entity, time) -%}
    {{ return(spark_cdc._without_scheme(spark_cdc._landing_path(entity, [time])).rstrip('/')) }}
{%- endmacro -%}


{#- A path without its scheme and host, or without a leading `./`: the way Spark lists it. -#}
{%- macro _without_scheme(path) -%}
    {%- set scheme = path.split(':')[0] -%}
    {%- if not scheme or scheme == path or not spark_cdc._has_only(scheme, '') -%}{{ return(path.removeprefix('./')) }}{%- endif -%}
    {%- set rest = path[scheme | length + 1:] -%}
    {{ return(rest[2 + rest[2:].split('/')[0] | length:] if rest.startswith('//') else rest) }}
{%- endmacro -%}


{#- Checks that a streamed business time is closed: no load would read later messages. Returns none,
    or a refusal. -#}
{%- macro _check_closed(entity, time) -%}
    {%- if entity.source.stream is not mapping -%}{{ return(none) }}{%- endif -%}
    {%- set folder = spark_cdc._landing_path(entity, [time]).rstrip('/') -%}
    {#- spark-cdc stream puts its marker into a folder that Spark's readers skip -#}
    {%- if not spark_cdc._lacks_path(folder ~ '/_closed/*') -%}{{ return(none) }}{%- endif -%}
    {%- set problem -%}
the business time of '{{ folder }}' is not closed; spark-cdc stream may still add messages, which no load would read.
spark-cdc load without dates loads it when it is closed.
    {%- endset -%}
    {%- set command = 'spark-cdc stream --status --select ' ~ entity.name -%}
    {{ return(spark_cdc._load_refusal(entity, 'open_time', problem, ' To see which are closed:\n  ' ~ command)) }}
{%- endmacro -%}


{#- The input of written loads as it is now: rows {load_id, operation, row_count, note} for
    _load_counts(), of the files and, of text, of their lines. Of several dates load_id is the
    date's place among them. None where no files are read. -#}
{%- macro _input_sql(entity, times) -%}
{%- if not spark_cdc._reads_files(entity) or spark_cdc._is_archive_replay() -%}{{ return(none) }}{%- endif -%}
{%- set is_no_folder = entity.source.on_no_files == 'empty' and times | length == 1
        and spark_cdc._lacks_path(spark_cdc._landing_path(entity, times)) -%}
select
    cast({{ 'position' if times | length > 1 else 'null' }} as string) as load_id,
    'files' as operation,
    0 as row_count,
    {% if is_no_folder -%}
    '{"files": 0, "bytes": 0, "digest": null}' as note
    {%- else -%}
    to_json(struct(files, bytes, digest)) as note
from (
    {{ spark_cdc._input_files_sql(entity, times) | indent(4) }}
)
    {%- endif %}
{#- in UTF-16 and the like a line does not end with the byte of a line break -#}
{%- if not is_no_folder and entity.source.facts.is_text and not spark_cdc._is_wide_encoding(spark_cdc._csv_encoding(entity)) %}

union all

{{ spark_cdc._input_documents_sql(entity, times) if spark_cdc._json_is_multi_line(entity) else spark_cdc._input_lines_sql(entity, times) }}
{%- endif -%}
{%- if not is_no_folder and entity.guards.unfinished_file and spark_cdc._reads_lines(entity) %}

union all

{{ spark_cdc._input_ends_sql(entity, times) }}
{%- endif -%}
{%- endmacro -%}


{#- The files that loads read. Spark's binaryFile reader lists the files that every reader finds,
    and opens none.
    Arguments: entity, times (datetimes of business dates), found (of _found_by_pattern(), if
    known).
    Returns a list by date: files (number), bytes, digest (of paths, bytes and times), paths. None
    of a table, and where several dates have to be read one by one: their paths have characters that
    mean something to a pattern or a URL, or there is nothing at all. -#}
{%- macro _input_files(entity, times, found=none) -%}
    {%- if not spark_cdc._reads_files(entity) -%}{{ return(none) }}{%- endif -%}
    {%- set paths, files = [], [] -%}
    {%- for time in times -%}
        {%- do paths.append(spark_cdc._landing_path(entity, [time])) -%}
        {%- do files.append({'files': 0, 'bytes': 0, 'digest': none, 'paths': []}) -%}
    {%- endfor -%}
    {%- set several = times | length > 1 -%}
    {%- if several and (spark_cdc._direct_options(entity) or paths | unique(case_sensitive=true) | list != paths
            or not spark_cdc._has_only(paths | join, '_./:=-')) -%}
        {{ return(none) }}
    {%- elif (not found.is_there if found
            else spark_cdc._plan_refusal(spark_cdc._plan('select 1 from ' ~ spark_cdc._direct_sql(entity, times, 'binaryFile'))) if several
            else entity.source.on_no_files == 'empty' and spark_cdc._lacks_path(spark_cdc._landing_path(entity, times))) -%}
        {{ return(none if several else files) }}
    {%- endif -%}
    {%- for row in spark_cdc._query(spark_cdc._input_files_sql(entity, times)) -%}
        {%- set position = row.position if 'position' in row else 0 -%}
        {%- if position is none -%}{{ return(none) }}{%- endif -%}
        {%- do files[position | int].update(
            {'files': row.files | int, 'bytes': row.bytes | int, 'digest': row.digest, 'paths': fromjson(row.paths)}) -%}
        {%- for ending in ['.gz', '.bz2', '.deflate', '.snappy', '.lz4', '.zst', '.zstd', '.xz'] if ending ~ '"' in row.paths | lower -%}
            {%- do spark_cdc._memo().update({'packed files of ' ~ entity.name: true}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(files) }}
{%- endmacro -%}


{%- macro _input_files_sql(entity, times) -%}
select
    {{ 'position,\n    ' if times | length > 1 }}count(*) as files,
    coalesce(sum(length), 0) as bytes,
    md5(array_join(sort_array(collect_list(concat_ws('\t', path, length, unix_micros(modificationTime)))), '\n')) as digest,
    to_json(sort_array(collect_list(path))) as paths
from {{ spark_cdc._direct_sql(entity, times, 'binaryFile') }}{{ spark_cdc._by_date_sql(entity, times) }}
{%- endmacro -%}


{#- What follows the relation of a query on the files (with path) of several dates, to group it by
    date: position, among these. Nothing for one date. -#}
{%- macro _by_date_sql(entity, times) -%}
{%- if times | length > 1 %} as found
left join (
    select *
    from
        values
        {%- for time in times %}
        ({{ spark_cdc._literal('/' ~ spark_cdc._entries_folder(entity, time).lstrip('/') ~ '/') }}, {{ loop.index0 }}){{ ',' if not loop.last }}
        {%- endfor %}
            as places (place, position)
) as places
    on contains(concat(found.path, '/'), places.place)
group by position
{%- endif -%}
{%- endmacro -%}


{#- The note on files in a load's record, with the names that it skipped; none if it read no files.
    Argument: files (of _input_files(), or none). -#}
{%- macro _input_files_noted(files) -%}
    {%- set skipped = {'skipped': files.skipped} if files and files.get('skipped') else {} -%}
    {{ return(dict({'files': files.files, 'bytes': files.bytes, 'digest': files.digest}, **skipped) if files else none) }}
{%- endmacro -%}


{#- Whether an entity reads text whose records are lines. EBCDIC has other line ends. -#}
{%- macro _reads_lines(entity) -%}
    {%- set encoding, is_multi_line = spark_cdc._csv_encoding(entity), spark_cdc._reader_option(entity, ['multiline'], false) | string | lower == 'true' -%}
    {%- set is_known = not spark_cdc._is_wide_encoding(encoding) or encoding[:3] in ['utf', 'ucs', 'uni', 'x-u'] -%}
    {{ return(is_known if entity.source.facts.has_header else entity.source.facts.has_names and not is_multi_line) }}
{%- endmacro -%}


{#- Whether an entity reads files, not a table. -#}
{%- macro _reads_files(entity) -%}{{ return(entity.source.facts.reads == 'files') }}{%- endmacro -%}


{#- The names of columns in the names of folders, column=value, in lower case. Spark would guess
    their types, and read times in the session's zone: its guess is switched off if there are any,
    so that they are text, and are cast as any text is. -#}
{%- macro _folder_columns(entity, time, files) -%}
    {%- set names = [] -%}
    {#- a table has no path -#}
    {%- set paths = files.paths if files and '=' in files.paths | join else [] -%}
    {%- set root = spark_cdc._entries_folder(entity, time) if paths else none -%}
    {%- for path in paths -%}
        {%- for folder in spark_cdc._folders_below(root, path) if '=' in folder -%}
            {%- do names.append(folder.split('=')[0] | lower) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if names and not spark_cdc._takes('spark.sql.sources.partitionColumnTypeInference.enabled') -%}
        {%- do exceptions.raise_compiler_error(entity.name ~ ': folders name columns (' ~ names | unique | join(', ') ~ '), whose types a session on the platform '
            ~ spark_cdc._platform().name ~ ' guesses (007 would be 7). Nothing was written. Deliver them as columns of the files (docs/platforms.md).') -%}
    {%- endif -%}
    {%- if names -%}{%- do spark_cdc._set('spark.sql.sources.partitionColumnTypeInference.enabled', 'false') -%}{%- endif -%}
    {{ return(names | unique | list) }}
{%- endmacro -%}


{#- The folders of a file's path below a root, in which a folder may be a pattern. -#}
{%- macro _folders_below(root, path) -%}
    {%- set steps, names = spark_cdc._with_stars(root.lstrip('/')).split('/'), path.split('/') -%}
    {%- for start in range(names | length - steps | length + 1) -%}
        {%- set others = [] -%}
        {%- for step in steps -%}
            {%- set name = names[start + loop.index0] -%}
            {%- set is_it = name == step if '*' not in step
                else name.startswith(step.split('*')[0]) and name.endswith(step.split('*')[-1]) -%}
            {%- do others.append(name) if not is_it -%}
        {%- endfor -%}
        {%- if not others -%}{{ return(names[start + steps | length:-1]) }}{%- endif -%}
    {%- endfor -%}
    {{ return(names[:-1]) }}
{%- endmacro -%}


{#- The columns found; those of folders have the declared type, and the declared column as
    folder. -#}
{%- macro _folder_columns_found(entity, found, names) -%}
    {%- if not names or entity.source.text -%}{{ return(found) }}{%- endif -%}
    {%- set marked = [] -%}
    {%- for one in found -%}
        {%- set declared = spark_cdc._folder_columns_declared(entity, one.col_name) if one.col_name | lower in names else none -%}
        {%- do marked.append(dict(one, data_type=declared.data_type, folder=declared) if declared else one) -%}
    {%- endfor -%}
    {{ return(marked) }}
{%- endmacro -%}


{#- The declared column that a folder names; a null in it is judged in staging. -#}
{%- macro _folder_columns_declared(entity, name) -%}
    {%- for column in entity.columns if column.from | lower == name | lower -%}{{ return(dict(column, nullable=true)) }}{%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- Checks that files do not have a folder's column with other values: Spark would read the
    folder's, and of CSV neither. Returns none, or a refusal. -#}
{%- macro _check_folder_columns(entity, input, time, names) -%}
    {%- if not names or (entity.source.facts.has_header and not spark_cdc._csv_has_header(entity)) -%}{{ return(none) }}{%- endif -%}
    {%- set view = spark_cdc._files_view(entity) ~ '_alone' -%}
    {%- set reading = {'recursiveFileLookup': 'true', 'mergeSchema': 'true'} -%}
    {%- do spark_cdc._send(spark_cdc._files_view_sql(entity, none, [time], reading, view)) -%}
    {%- set path = spark_cdc._folder_columns_decoded(spark_cdc._file_name_sql()) -%}
    {%- for own in spark_cdc._describe(view) if own.col_name | lower in names and spark_cdc._folder_columns_declared(entity, own.col_name) -%}
        {%- set column = spark_cdc._folder_columns_declared(entity, own.col_name) -%}
        {%- set value = spark_cdc._cast(column, spark_cdc._quote(own.col_name), own.data_type == 'string', entity.timezone) -%}
        {%- set pattern = spark_cdc._literal('(?i)^.*/' ~ spark_cdc._escaped_regex(own.col_name) ~ '=([^/]*)/') -%}
        {%- set named = spark_cdc._folder_columns_decoded('regexp_extract(cdc__folder_path, ' ~ pattern ~ ', 1)') -%}
        {%- set sql -%}
select min(cdc__folder_path) as path
from (
    select
        cdc__folder_path,
        {{ value }} as cdc__folder_own,
        nullif({{ named }}, '__HIVE_DEFAULT_PARTITION__') as cdc__folder_named
    from (
        select
            *,
            {{ path }} as cdc__folder_path
        from {{ view }}
    ) as files
) as rows_of_files
where not cdc__folder_own <=> {{ spark_cdc._cast(column, 'cdc__folder_named', true, entity.timezone) }}
        {%- endset -%}
        {%- set other = 'the header' if entity.source.facts.has_header else spark_cdc._query(sql)[0].path -%}
        {%- if other -%}
            {%- set problem -%}
{{ own.col_name }} in {{ input }} contradicts itself: it is the name of a folder, and a column of the files
{{- ' with other values' if not entity.source.facts.has_header }}, as in {{ other }}.
Deliver it once, or give one of them another name.
            {%- endset -%}
            {{ return(spark_cdc._load_refusal(entity, 'column_types', problem)) }}
        {%- endif -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- A path without its escapes; unchanged if it has a % that begins none. -#}
{%- macro _folder_columns_decoded(sql) -%}
if({{ sql }} rlike '%(?![0-9A-Fa-f]{2})', {{ sql }}, url_decode(replace({{ sql }}, '+', '%2B')))
{%- endmacro -%}


{#- Reader options as SQL, a list of lines: the entity's, and those that the project needs. In CSV
    Spark distinguishes "" (empty text) from nothing (null) only with a null text that is not
    empty. -#}
{%- macro _reader_options(entity, times, more={}) -%}
    {%- set given = entity.source.options -%}
    {#- a file that is damaged or gone stops the load, whatever the cluster says -#}
    {%- set options = {'path': spark_cdc._landing_path(entity, times), 'ignoreCorruptFiles': 'false', 'ignoreMissingFiles': 'false'} -%}
    {%- for option, value in entity.source.facts.options.items() -%}
        {%- do options.update({} if option | lower in given | map('lower') else {option: value}) -%}
    {%- endfor -%}
    {%- do options.update(given) -%}
    {%- do options.update(more) -%}
    {%- set lines = [] -%}
    {%- for option, value in options.items() -%}
        {%- do lines.append('`' ~ option ~ '` ' ~ spark_cdc._reader_option_literal(option, value)) -%}
    {%- endfor -%}
    {{ return(lines) }}
{%- endmacro -%}


{#- The value of an option as SQL. In lineSep \n and \r are the characters: dbt drops line breaks at
    the end of a text. -#}
{%- macro _reader_option_literal(option, value) -%}
    {%- set text = value | string | lower if value is boolean else value | string -%}
    {{ return(spark_cdc._literal(text.replace('\\n', '\n').replace('\\r', '\r') if option | lower == 'linesep' else text)) }}
{%- endmacro -%}


{#- The entity's value of a reader's option.
    Arguments: entity, names (in lower case; some have two), default. -#}
{%- macro _reader_option(entity, names, default) -%}
    {%- for option, value in entity.source.options.items() if option | lower in names -%}
        {{ return(value) }}
    {%- endfor -%}
    {{ return(default) }}
{%- endmacro -%}


{#- A timestamp as text in UTC. -#}
{%- macro _instant_text(sql) -%}
concat(cast({{ spark_cdc._wall_clock(sql) }} as string), 'Z')
{%- endmacro -%}


{#- A typed column as text that staging reads back as the same value, whatever the session's time
    zone; where columns arrive as text, the text that arrived.
    Arguments: entity, column (dictionary, or none). Returns an expression. -#}
{%- macro _event_text(entity, column) -%}
{%- if column is none -%}
cast(null as string)
{%- elif entity.source.text -%}
{{ spark_cdc._raw(column) }}
{%- elif column.data_type == 'binary' and column.format == 'utf8' -%}
decode({{ column.sql }}, 'utf-8')
{%- elif column.data_type == 'binary' -%}
{{ 'hex' if column.format == 'hex' else 'base64' }}({{ column.sql }})
{%- elif column.data_type == 'timestamp' -%}
{{ spark_cdc._instant_text(column.sql) }}
{%- else -%}
cast({{ column.sql }} as string)
{%- endif -%}
{%- endmacro -%}
