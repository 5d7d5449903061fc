{#- How records end in CSV files whose values may hold line breaks. Spark would go by the first line break of a file, be it in a value, and leave a
    carriage return in the last column; with lineSep it takes a value's line breaks as they are. -#}


{#- An entity once per line end of its files, each with the files that have it and with lineSep; the entity itself where Spark need not be told.
    Arguments: entity, time. Returns a dictionary: parts (a list of entities), refusal ({guard, message} where the records of one file end in more than
    one way, or none). -#}
{%- macro _line_ends(entity, time) -%}
    {%- if not spark_cdc._csv_is_multi_line(entity) or spark_cdc._reader_option(entity, ['linesep'], '') -%}
        {{ return({'parts': [entity], 'refusal': none}) }}
    {%- endif -%}
    {%- set groups, mixed = {}, [] -%}
    {%- for row in spark_cdc._line_ends_of_files(entity, time) -%}
        {%- do groups.setdefault({'lf': '\n', 'crlf': '\r\n', 'cr': '\r'}[row.line_end], []).append(row.path) -%}
        {%- do mixed.append(row.path ~ ': ' ~ row.crlf ~ ' end with CRLF, ' ~ row.lf ~ ' with LF') if row.lf | int and row.crlf | int -%}
    {%- endfor -%}
    {%- set message -%}
{{ entity.name }}: the records of a file do not all end alike in {{ spark_cdc._landing_input(entity, none, time) }}, so that a carriage return would get {# -#}
into their last column.
  {{ mixed[:5] | join('\n  ') }}
Deliver it with one line end, CRLF or LF; or leave out source.options.multiLine in stg_{{ entity.name }} if no value goes over several lines. {# -#}
Nothing was written.
    {%- endset -%}
    {%- set parts = [] -%}
    {%- for line_end, paths in groups.items() -%}
        {%- set options = dict(entity.source.options, lineSep=line_end) -%}
        {%- if groups | length == 1 -%}
            {%- do parts.append(dict(entity, source=dict(entity.source, options=options))) -%}
        {%- else -%}
            {%- set of_paths = spark_cdc._path_options(entity, time, paths) -%}
            {%- set source = dict(entity.source, path=of_paths.pop('path'), options=dict(options, **of_paths)) -%}
            {%- do parts.append(dict(entity, name=entity.name ~ '_ends_' ~ loop.index, source=source)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return({'parts': parts, 'refusal': {'guard': 'line_ends', 'message': message} if mixed else none}) }}
{%- endmacro -%}


{#- Rows {path, line_end, lf, crlf} of the files, with how many records end so. The lines are read without regard to quotes, and a line break counts where as many quotes were opened as
    closed. What ends the last line is not known. A carriage return alone ends records only where nothing else does. -#}
{%- macro _line_ends_of_files(entity, time) -%}
    {%- set view = spark_cdc._landed_view(entity) ~ '_lines' -%}
    {%- set chosen = {} -%}
    {%- for name, value in entity.source.options.items() if name | lower in ['encoding', 'charset', 'pathglobfilter', 'modifiedbefore', 'modifiedafter'] -%}
        {%- do chosen.update({name: value}) -%}
    {%- endfor -%}
    {%- set lines = dict(entity, source=dict(entity.source, options=chosen)) -%}
    {#- a separator that is no character -#}
    {%- set reading = {'header': 'false', 'multiLine': 'true', 'lineSep': '\n', 'sep': '\uffff', 'quote': '', 'escape': ''} -%}
    {%- do spark_cdc._send('create or replace temporary view ' ~ view ~ ' (value string)\nusing csv\noptions (\n    '
        ~ spark_cdc._reader_options(lines, time, reading) | join(',\n    ') ~ '\n)') -%}
    {{ return(spark_cdc._query(spark_cdc._line_ends_sql(entity, time, view))) }}
{%- endmacro -%}


{%- macro _line_ends_sql(entity, time, view) -%}
select
    found.path,
    coalesce(ends.first_end, if(ends.cr > 0, 'cr', null), ends.last_end, 'lf') as line_end,
    if(ends.is_closed, coalesce(ends.lf, 0), 0) as lf,
    if(ends.is_closed, coalesce(ends.crlf, 0), 0) as crlf
from (
    select
        path,
        input_file_name() as uri
    from {{ spark_cdc._direct_sql(entity, time, 'binaryFile') }}
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
                    if({{ spark_cdc._record_condition(entity) }}, {{ spark_cdc._csv_open_quotes(entity) | indent(20) }}, 0) as quotes,
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
