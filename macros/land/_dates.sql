{#- Many dates looked at together: one statement where a load of each date takes one or several. Only for paths in which no character means something
    else to a pattern or a URL; else, and wherever something is not as usual, each date is looked at by itself. -#}


{#- The paths of some dates as one pattern; none where they can't be taken together. -#}
{%- macro _dates_path(entity, times) -%}
    {%- if not times or entity.source.format == 'table' or spark_cdc._direct_options(entity) -%}{{ return(none) }}{%- endif -%}
    {%- set paths = [] -%}
    {%- for time in times -%}{%- do paths.append(spark_cdc._landing_path(entity, time).rstrip('/')) -%}{%- endfor -%}
    {%- if paths | unique | list | length < paths | length
            or not modules.re.fullmatch('[A-Za-z0-9_./:=\\n-]*', paths | join('\n')) -%}
        {{ return(none) }}
    {%- endif -%}
    {{ return(spark_cdc._braced_dates(paths)) }}
{%- endmacro -%}


{#- Some paths as one pattern: what they have in common, then the rest of each between braces. -#}
{%- macro _braced_dates(paths) -%}
    {%- if paths | length == 1 -%}{{ return(paths[0]) }}{%- endif -%}
    {%- set common = namespace(length=0) -%}
    {%- for at in range(paths | map('length') | min) if common.length == at and paths | map(attribute=at) | unique | list | length == 1 -%}
        {%- set common.length = at + 1 -%}
    {%- endfor -%}
    {%- set rests = [] -%}
    {%- for path in paths -%}{%- do rests.append(path[common.length:]) -%}{%- endfor -%}
    {{ return(paths[0][:common.length] ~ '{' ~ rests | join(',') ~ '}') }}
{%- endmacro -%}


{#- An entity whose path is that of many dates. -#}
{%- macro _entity_of_dates(entity, path) -%}{{ return(dict(entity, source=dict(entity.source, path=path))) }}{%- endmacro -%}


{#- Which date a file is of, as an inline table to join with: place (a part of its path, with a slash behind it) and position (of the date among
    these). -#}
{%- macro _dates_places_sql(entity, times) -%}
values
    {%- for time in times %}
    ({{ spark_cdc._literal('/' ~ spark_cdc._entries_folder(entity, time).lstrip('/') ~ '/') }}, {{ loop.index0 }}){{ ',' if not loop.last }}
    {%- endfor %}
    as places (place, position)
{%- endmacro -%}


{#- The files of each of some dates: a list of dictionaries as of _input_files(), in the order of the dates; none where one can't tell. -#}
{%- macro _dates_files(entity, times) -%}
    {%- set path = spark_cdc._dates_path(entity, times) -%}
    {%- if not path -%}{{ return(none) }}{%- endif -%}
    {%- set all = spark_cdc._entity_of_dates(entity, path) -%}
    {#- a pattern that finds nothing at all is an error -#}
    {%- if spark_cdc._plan_lacks_path(spark_cdc._plan('select 1 from ' ~ spark_cdc._direct_sql(all, times[0], 'text'))) -%}{{ return(none) }}{%- endif -%}
    {%- set files = [] -%}
    {%- for time in times -%}{%- do files.append({'files': 0, 'bytes': 0, 'digest': none, 'paths': []}) -%}{%- endfor -%}
    {%- for row in spark_cdc._query(spark_cdc._dates_files_sql(entity, times, all)) -%}
        {%- if row.position is none -%}{{ return(none) }}{%- endif -%}
        {%- do files[row.position | int].update({
            'files': row.files | int, 'bytes': row.bytes | int, 'digest': row.digest, 'paths': fromjson(row.paths)}) -%}
    {%- endfor -%}
    {{ return(files) }}
{%- endmacro -%}


{%- macro _dates_files_sql(entity, times, all) -%}
select
    position,
    {{ spark_cdc._input_files_figures_sql() | indent(4) }}
from (
    select
        path,
        length,
        modificationTime,
        places.position
    from {{ spark_cdc._direct_sql(all, times[0], 'binaryFile') }} as found
    left join (
        select *
        from {{ spark_cdc._dates_places_sql(entity, times) | indent(8) }}
    ) as places
        on contains(concat(found.path, '/'), places.place)
) as placed
group by position
{%- endmacro -%}


{#- What tells whether dates are read alike, so that a look at one of them is a look at all: a text per date; none where each has to be looked at by
    itself. Of CSV the headers, of typed files the columns. Arguments: entity, times, files (of _dates_files()). -#}
{%- macro _dates_signatures(entity, times, files) -%}
    {%- set format = entity.source.format -%}
    {%- set apart = [none] * times | length -%}
    {%- if format == 'table' -%}{{ return(['table'] * times | length) }}{%- endif -%}
    {%- if not files or format == 'json' or files | selectattr('files', 'equalto', 0) | list -%}{{ return(apart) }}{%- endif -%}
    {%- set all = spark_cdc._entity_of_dates(entity, spark_cdc._dates_path(entity, times)) -%}
    {#- a folder for each date that holds its files, and nothing beside them -#}
    {%- if spark_cdc._found_by_pattern(all, times[0]).count != files | sum(attribute='files') + times | length -%}{{ return(apart) }}{%- endif -%}
    {%- set paths = files | map(attribute='paths') | sum(start=[]) -%}
    {%- set told = {} -%}
    {%- if format != 'csv' -%}
        {%- for schema in spark_cdc._file_schemas(entity, {'paths': paths}, []) -%}
            {%- for path in schema.paths -%}{%- do told.update({path: tojson(schema.columns)}) -%}{%- endfor -%}
        {%- endfor -%}
    {%- elif spark_cdc._csv_has_header(entity) -%}
        {#- the bytes of a file that is not compressed, nor so big that nobody wants to hold it -#}
        {%- if modules.re.search('[.](gz|bz2|deflate|snappy|lz4|zst|xz)(\n|$)', paths | join('\n')) or files | map(attribute='bytes') | max > 2 ** 28
                or spark_cdc._csv_encoding(entity) != 'utf-8' or spark_cdc._csv_is_multi_line(entity)
                or spark_cdc._reader_option(entity, ['comment', 'linesep'], '') -%}
            {{ return(apart) }}
        {%- endif -%}
        {%- set sql = "select path, substring_index(cast(substring(content, 1, 65536) as string), '\\n', 1) as header from "
            ~ spark_cdc._direct_sql(all, times[0], 'binaryFile') -%}
        {%- for row in spark_cdc._query(sql) -%}{%- do told.update({row.path: row.header | trim}) -%}{%- endfor -%}
        {%- if '' in told.values() | list -%}{{ return(apart) }}{%- endif -%}
    {%- endif -%}
    {%- set signatures = [] -%}
    {%- for one in files -%}
        {%- set of_date = [] -%}
        {%- for path in one.paths -%}{%- do of_date.append(told.get(path)) -%}{%- endfor -%}
        {%- set is_told = format != 'csv' or spark_cdc._csv_has_header(entity) -%}
        {%- if is_told and none in of_date -%}{{ return(apart) }}{%- endif -%}
        {%- do signatures.append(tojson([of_date | unique | sort if is_told else [], one.files > 1])) -%}
    {%- endfor -%}
    {{ return(signatures) }}
{%- endmacro -%}


{#- What loads of some dates have read, as it lies there now, by date: a list of dictionaries with files and, of text, lines, as _input_sql() tells of one;
    none where the dates can't be taken together. -#}
{%- macro _dates_input(entity, times) -%}
    {%- set files = spark_cdc._dates_files(entity, times) -%}
    {%- if files is none -%}{{ return(none) }}{%- endif -%}
    {%- set inputs = [] -%}
    {%- for one in files -%}{%- do inputs.append({'files': one}) -%}{%- endfor -%}
    {%- if entity.source.format in ['csv', 'json'] and not spark_cdc._is_wide_encoding(spark_cdc._csv_encoding(entity)) -%}
        {%- set all = spark_cdc._entity_of_dates(entity, spark_cdc._dates_path(entity, times)) -%}
        {%- set places = spark_cdc._dates_places_sql(entity, times) -%}
        {%- for row in spark_cdc._query(spark_cdc._input_lines_sql(all, times[0], places)) -%}
            {%- if row.position is none -%}{{ return(none) }}{%- endif -%}
            {%- do inputs[row.position | int].update({'lines': fromjson(row.note)}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(inputs) }}
{%- endmacro -%}
