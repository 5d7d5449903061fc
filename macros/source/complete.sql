{#- A query that finds files whose last line has no line end: those that are still being written, or
    were cut. Its row has the columns of _load_counts(); the note is JSON: unfinished (number of
    files), unfinished_examples (their paths). Of several dates the query has a row for each.
    Lines are read with one line end, so that their bytes and those of their ends add up to the
    file's, but for the end that the last line lacks (Spark leaves out the three bytes by which
    UTF-8 may begin). A line that ends in a carriage return is whole. The size of a packed file
    tells nothing: there the line ends are counted, by reading it once more in other pieces. -#}
{%- macro _input_ends_sql(entity, times) -%}
{%- set sep = spark_cdc._reader_option(entity, ['linesep'], '\n').replace('\\n', '\n').replace('\\r', '\r') -%}
{%- set is_wide, width = spark_cdc._is_wide_encoding(spark_cdc._csv_encoding(entity)), sep | length -%}
{%- set is_default = sep == '\n' -%}
{%- set pieces = '"' if entity.source.facts.has_names else '1' if entity.columns | length == 1
    else spark_cdc._reader_option(entity, ['sep', 'delimiter'], ',').replace('\\t', '\t') -%}
{%- set has_packed = spark_cdc._memo().get('packed files of ' ~ entity.name) and pieces not in sep -%}
{%- set packed = "found.path rlike '(?i)[.](gz|bz2|deflate|snappy|lz4|zst|zstd|xz)$'" -%}
select
    cast({{ 'position' if times | length > 1 else 'null' }} as string) as load_id,
    'ends' as operation,
    0 as row_count,
    to_json(struct(count_if(is_unfinished) as unfinished, collect_list(if(is_unfinished, path, null)) as unfinished_examples)) as note
from (
    select
        found.path,
        {%- if is_wide %}
        {#- of UTF-16 a line end is two bytes, of which the last one may begin the next line #}
        not ({{ packed }} or ends.last_end = 2 or (ends.last_end = 1 and ends.bytes + ends.lines = found.length)) as is_unfinished
        {%- else %}
        {{ 'ends.last_end = 0 and ' if is_default }}if(
            {{ packed }},
            {{ 'ends.lines > breaks.breaks' if has_packed else 'false' }},
            ends.bytes + {{ width }} * (ends.lines - 1) - found.length in (0{{ ', -3' if width != 3 }})
        ) as is_unfinished
        {%- endif %}
    from (
        select
            path,
            length,
            {{ spark_cdc._file_name_sql() }} as uri
        from {{ spark_cdc._direct_sql(entity, times, 'binaryFile') }}
    ) as found
    inner join (
        select
            uri,
            count(*) as lines,
            sum(octet_length(value)) as bytes,
            max_by(line_end, place) as last_end
        from (
            select
                {{ spark_cdc._file_name_sql() }} as uri,
                monotonically_increasing_id() as place,
                value,
                {% if is_wide -%}
                if(value in ('\0', '\0\0\0'), 2, if(endswith(value, '\0'), 1, 0)) as line_end
                {%- else -%}
                if(endswith(value, '\r'), 1, 0) as line_end
                {%- endif %}
            from {{ spark_cdc._split_text(entity, times, sep, 'lines') }}
        )
        group by uri
    ) as ends
        on found.uri = ends.uri
    {%- if has_packed and not is_wide %}
    inner join (
        select
            {{ spark_cdc._file_name_sql() }} as uri,
            sum(octet_length(value) - octet_length(replace(value, {{ spark_cdc._literal(sep) }}, ''))) div {{ width }} as breaks
        from {{ spark_cdc._split_text(entity, times, pieces, 'pieces') }}
        group by {{ spark_cdc._file_name_sql() }}
    ) as breaks
        on found.uri = breaks.uri
    {%- endif %}
)
{{- spark_cdc._by_date_sql(entity, times) }}
{%- endmacro -%}


{#- Files as a relation of texts between separators. Spark 3.5 knows no options in a query, but
    in a view. -#}
{%- macro _split_text(entity, times, separator, name) -%}
    {%- set options = {'lineSep': separator} -%}
    {%- for option, value in entity.source.options.items() if option | lower in ['pathglobfilter', 'modifiedbefore', 'modifiedafter'] -%}
        {%- do options.update({option: value}) -%}
    {%- endfor -%}
    {%- set one = dict(entity, source=dict(entity.source, options=options)) -%}
    {%- if spark_cdc._platform().has_options or (spark_cdc._spark_version()[0] or [4, 0]) >= [4, 0] -%}{{ return(spark_cdc._direct_sql(one, times, 'text', ['linesep'])) }}{%- endif -%}
    {%- set view = spark_cdc._landed_view(entity) ~ '_' ~ name -%}
    {%- do spark_cdc._send(spark_cdc._reader_view_sql('temporary view ' ~ view, 'text', spark_cdc._reader_options(one, times))) -%}
    {{ return(view) }}
{%- endmacro -%}


{#- The markers without which a date is not complete (source.complete_when), as paths: beside each
    file the one that {file} names, else one in each folder of files, without folders column=value
    below it. Where there is no file, the one of source.path, whose last part is a name of files if
    it has more than a date, and a dot or a wildcard.
    Arguments: entity, time, files (of _input_files()). -#}
{%- macro _markers(entity, time, files) -%}
    {%- set name = spark_cdc._landing_path(entity, [time], entity.source.complete_when) -%}
    {%- set root, markers = spark_cdc._entries_folder(entity, time), [] -%}
    {%- for path in files.paths -%}
        {%- set depth = 0 if '{file}' in name else spark_cdc._folders_below(root, path) | length -%}
        {%- do markers.append(path.rsplit('/', depth + 1)[0] ~ '/' ~ name.replace('{file}', path.rsplit('/', 1)[-1])) -%}
    {%- endfor -%}
    {%- if not markers -%}
        {%- set path, last = spark_cdc._landing_path(entity, [time]), namespace(part=entity.source.path.rsplit('/', 1)[-1]) -%}
        {%- for form in spark_cdc._dates_in(last.part) -%}{%- set last.part = last.part.replace('{business_date' ~ form ~ '}', '') -%}{%- endfor -%}
        {%- set is_of_files = last.part | select('in', '.*?[{') | list -%}
        {%- do markers.append((path.rsplit('/', 1)[0] if is_of_files else path.rstrip('/')) ~ '/' ~ name.replace('{file}', '*')) -%}
    {%- endif -%}
    {{ return(markers | unique(case_sensitive=true) | list) }}
{%- endmacro -%}


{#- Those of some paths at which nothing lies. Spark's readers list no names that begin with _ and
    no files of 0 bytes, but the plan of a query has all paths that match a pattern. -#}
{%- macro _paths_that_lack(entity, time, paths) -%}
    {%- do spark_cdc._set('spark.sql.maxMetadataStringLength', '10000000') -%}
    {%- set lacking = [] -%}
    {#- a plan shows all paths only where it may be as long as it likes -#}
    {%- set is_whole = spark_cdc._takes('spark.sql.maxMetadataStringLength') -%}
    {%- for some in paths | batch(500 if is_whole else 1) -%}
        {%- set pattern = spark_cdc._path_options(entity, [time], some).path if '*' not in some[0] else some[0] -%}
        {%- set found = spark_cdc._plan_paths(spark_cdc._plan('select 1 from text.`' ~ pattern.replace('`', '``') ~ '`')) -%}
        {%- set listed = ', ' ~ found.paths ~ ', ' -%}
        {%- for path in some if not found.count or (is_whole and '*' not in path and spark_cdc._without_scheme(path).lstrip('/') ~ ', ' not in listed) -%}
            {%- do lacking.append(path) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(lacking) }}
{%- endmacro -%}


{#- Checks that a date is complete: the source has put its markers beside the files, and Spark does
    not read one for data. Returns none, or a refusal. -#}
{%- macro _check_complete(entity, time, files) -%}
    {%- set setting, name = entity.source.complete_when, entity.name -%}
    {%- if not setting or 'complete_when' in spark_cdc._skipped_guards(name) or (not files.files and entity.source.on_no_files != 'empty') -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set markers, path = spark_cdc._markers(entity, time, files), entity.source.path.rstrip('/') -%}
    {%- set read = markers | select('in', files.paths) | list -%}
    {%- set has_date = '{file}' in setting or '{business_date' in setting or '{business_date' in path.rpartition('/')[0]
        or markers[0].rpartition('/')[0].endswith(spark_cdc._entries_folder(entity, time)) -%}
    {%- set lacking = spark_cdc._paths_that_lack(entity, time, markers) if not read and has_date else [] -%}
    {%- set problem -%}
    {%- if read -%}
the marker '{{ read[0] }}' (source.complete_when is {{ setting }}) is not empty, so that Spark would read it for data. Match the files by a pattern
in source.path of stg_{{ name }}, such as {{ path }}/*.{{ entity.source.format }}.
    {%- elif not has_date -%}
the marker '{{ markers[0] }}' (source.complete_when is {{ setting }}) would be the same on all dates, whose files lie in one folder. Name it for its
date or file in stg_{{ name }}, such as '{file}.done' or 'orders_{business_date}.done'.
    {%- elif lacking -%}
{{ spark_cdc._landing_input(entity, none, time) }} are not complete: {{ spark_cdc._counted(lacking | length, 'marker') }} of {{ markers | length }} {# -#}
{{ 'is' if lacking | length == 1 else 'are' }} not there (source.complete_when is {{ setting }}): {{ lacking[:5] | join(', ') }}. Load the date when the source has set {{ 'it' if lacking | length == 1 else 'them' }}.
    {%- endif -%}
    {%- endset -%}
    {%- if not problem | trim -%}{{ return(none) }}{%- endif -%}
    {%- set load = {'business_time': spark_cdc._time_text(entity, time)} -%}
    {%- set again = ' To load it without its marker:\n  ' ~ spark_cdc._skip_command(entity, load, ['complete_when']) -%}
    {{ return(spark_cdc._load_refusal(entity, 'complete_when', problem | trim, again if lacking else '')) }}
{%- endmacro -%}


{#- Those of some business times that are not complete, as texts. -#}
{%- macro _incomplete_times(entity, times) -%}
    {%- set incomplete = [] -%}
    {%- if not entity.source.complete_when or not times -%}{{ return(incomplete) }}{%- endif -%}
    {%- set several = spark_cdc._input_files(entity, times) if times | length > 1 else none -%}
    {%- for time in times -%}
        {%- set files = several[loop.index0] if several else spark_cdc._input_files(entity, [time], spark_cdc._found_by_pattern(entity, [time]))[0] -%}
        {%- do incomplete.append(spark_cdc._time_text(entity, time)) if spark_cdc._check_complete(entity, time, files) -%}
    {%- endfor -%}
    {{ return(incomplete) }}
{%- endmacro -%}
