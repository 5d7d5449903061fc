{#- Makes the temporary view landed_<entity> of a business date's data: the columns as the source
    names them, and `cdc__unparsed`, the problem with a row as a whole. The names of the columns
    are compared with the declared ones first; missing and unexpected ones are refused, unless the
    entity says otherwise.
    Arguments: entity (dictionary of _entity()), landing (the dbt source, read where format is
    table), time (datetime of the business date), files (of _input_files()). Returns none, or a
    refusal. -#}
{%- macro _land(entity, landing, time, files) -%}
    {%- set facts, view = entity.source.facts, spark_cdc._files_view(entity) -%}
    {%- set is_message = entity.events and entity.events.is_message -%}
    {%- if files and not files.files or spark_cdc._is_change_feed_empty(entity) -%}
        {%- do spark_cdc._send(spark_cdc._no_rows_view_sql(entity)) -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set looked = spark_cdc._looked_at(entity, landing, time, files) -%}
    {%- if looked.refusal -%}{{ return(looked.refusal) }}{%- endif -%}
    {%- set entity, folders, ends, found, schemas = looked.entity, looked.folders, looked.ends, looked.found, looked.schemas -%}
    {%- if is_message and facts.has_names -%}
        {%- do spark_cdc._send(spark_cdc._landed_messages_sql(entity)) -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set input = spark_cdc._landing_input(entity, landing, time) -%}
    {%- if is_message -%}
        {#- of several schemas, as the topics of a registry are: files with the same columns are
            read together, since a column that a file lacks was not sent, and is not null -#}
        {%- set schemas = spark_cdc._file_schemas(entity, files.paths, found, folders)
                if files and files.files > 1 and not spark_cdc._has_reader_schema(entity) else [{'columns': found}] -%}
        {%- set several, landed = schemas | length > 1, [] -%}
        {%- for schema in schemas -%}
            {%- do landed.append({'relation': view ~ ('_' ~ loop.index if several else ''), 'columns': schema.columns}) -%}
            {%- do spark_cdc._send(spark_cdc._files_view_sql(
                entity, landing, [time], spark_cdc._path_options(entity, [time], schema.paths), landed[-1].relation)) if several -%}
        {%- endfor -%}
        {%- set refusal = spark_cdc._check_message_types(entity, input, schemas) -%}
        {%- do spark_cdc._send(spark_cdc._landed_messages_sql(entity, landed)) if not refusal -%}
        {{ return(refusal) }}
    {%- endif -%}
    {%- set refusal = spark_cdc._check_headers(entity, input, time, files, folders) or spark_cdc._check_columns(entity, input, found) -%}
    {%- if not refusal and schemas | length > 1 -%}
        {%- set refusal = spark_cdc._check_schemas(entity, schemas) -%}
        {%- if not refusal and not facts.merges -%}
            {%- set parts = spark_cdc._schema_parts(entity, [time], schemas) -%}
            {%- for part in parts -%}
                {%- do spark_cdc._send(spark_cdc._files_view_sql(part.entity, landing, [time])) -%}
                {%- do spark_cdc._land_columns(part.entity, [time], part.found) -%}
            {%- endfor -%}
            {%- set refusal = spark_cdc._check_folder_columns(entity, input, time, folders) -%}
            {%- do spark_cdc._send(spark_cdc._landed_parts_sql(entity, parts | map(attribute='entity'))) if not refusal -%}
            {{ return(refusal) }}
        {%- elif not refusal -%}
            {%- do spark_cdc._send(spark_cdc._files_view_sql(entity, landing, [time], {'mergeSchema': 'true'})) -%}
            {%- set found = spark_cdc._folder_columns_found(entity, spark_cdc._found_columns(entity), folders) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set refusal = refusal or spark_cdc._check_folder_columns(entity, input, time, folders) -%}
    {%- if refusal -%}{{ return(refusal) }}{%- endif -%}
    {%- for part in ends.parts -%}{%- do spark_cdc._land_columns(part, [time], found) -%}{%- endfor -%}
    {%- do spark_cdc._send(spark_cdc._landed_parts_sql(entity, ends.parts)) if ends.parts | length > 1 -%}
    {{ return(none) }}
{%- endmacro -%}


{#- A first look at what came in: a temporary view of it (_files_view()), and its columns.
    Arguments as of _land(). Returns a dictionary: refusal (or none); entity (that knows its date
    column), folders (columns in names of folders), ends (of _line_ends()), found (columns; none of
    JSON messages) and schemas (of _found_as_read()). -#}
{%- macro _looked_at(entity, landing, time, files) -%}
    {%- set is_table, is_json = entity.source.facts.reads == 'table', entity.source.facts.has_names -%}
    {%- set entity = spark_cdc._date_column_found(entity, landing) if is_table else entity -%}
    {%- set refusal = spark_cdc._check_date_column(entity, landing) if is_table else none -%}
    {%- if refusal -%}{{ return({'refusal': refusal}) }}{%- endif -%}
    {%- do spark_cdc._set_for_reading(entity) -%}
    {%- set folders = spark_cdc._folder_columns(entity, time, files) if not is_json else [] -%}
    {%- set ends = spark_cdc._line_ends(entity, [time]) -%}
    {%- if ends.refusal -%}{{ return({'refusal': ends.refusal}) }}{%- endif -%}
    {%- do spark_cdc._send(spark_cdc._files_view_sql(ends.parts[0], landing, [time], view=spark_cdc._files_view(entity))) -%}
    {%- set has_columns = not (is_json and entity.events and entity.events.is_message) -%}
    {%- set read = spark_cdc._found_as_read(entity, files, folders) if has_columns else {'found': [], 'schemas': none} -%}
    {{ return({'refusal': none, 'entity': entity, 'folders': folders, 'ends': ends, 'found': read.found, 'schemas': read.schemas or []}) }}
{%- endmacro -%}


{#- Makes the view that staging reads, from files whose columns are known. -#}
{%- macro _land_columns(entity, times, found) -%}
    {%- if entity.source.facts.has_header and not spark_cdc._csv_is_as_declared(entity, found) -%}
        {%- do spark_cdc._send(spark_cdc._csv_view_sql(entity, times, found, spark_cdc._files_view(entity))) -%}
    {%- endif -%}
    {%- do spark_cdc._send(spark_cdc._landed_view_sql(entity, times, found)) -%}
{%- endmacro -%}


{#- The view that staging of messages reads: the messages as text, and the declared control columns
    beside them. Messages are the lines of JSON files, or of a table or typed files the column
    `value` (beside `key`, as topics are stored), or, without such a column, whole rows as JSON.
    Arguments: entity, landed (of a table or typed files: a list of {relation, columns}, one per
    schema). -#}
{%- macro _landed_messages_sql(entity, landed=[]) -%}
{%- set control, is_lines = entity.columns | selectattr('role', 'equalto', 'control') | list, entity.source.facts.has_names -%}
create or replace temporary view {{ spark_cdc._landed_view(entity) }} as
{% for schema in ([{'relation': spark_cdc._files_view(entity), 'columns': []}] if is_lines else landed) -%}
{%- set types = {} -%}
{%- for column in schema.columns -%}{%- do types.update({column.col_name | lower: column.data_type}) -%}{%- endfor -%}
{#- a topic of tombstones alone, in which Spark finds no message -#}
{%- set of_topic = ['topic', 'partition', 'offset'] -%}
{%- set beside = of_topic + ['key', 'headers', 'timestamp', 'timestamptype', 'batch', 'schema']
    + control | map(attribute='from') | map('lower') | list -%}
{%- set is_without_value = types | select('in', of_topic) | list | length == 3 and not types | reject('in', beside) | list -%}
select
    {% if is_lines -%}
    value as message,
    cast(null as string) as message_key
    {%- elif 'value' in types or is_without_value -%}
    {{ spark_cdc._landed_message(entity, 'value', types) | indent(4) }} as message,
    {{ spark_cdc._landed_message(entity, 'key', types) | indent(4) }} as message_key
    {%- else -%}
    {{ spark_cdc._typed_message(entity, schema.columns) | indent(4) }} as message,
    cast(null as string) as message_key
    {%- endif %}
    {%- for column in control %},
    {{ spark_cdc._landed_text(column.from, types) }} as {{ spark_cdc._quote(column.from) }}
    {%- endfor %}
from {{ schema.relation }}
{{- "\nwhere trim(value) <> ''" if is_lines }}
{{- '\n\nunion all\n\n' if not loop.last }}
{%- endfor -%}
{%- endmacro -%}


{#- Value or key of a message as text. -#}
{%- macro _landed_message(entity, name, types) -%}
{%- set type = types.get(name) | string -%}
{%- if not type.startswith('struct<') -%}
{{ spark_cdc._landed_text(name, types) }}
{%- elif name == 'key' -%}
{{ spark_cdc._typed_json(spark_cdc._typed_image(entity, '`key`', type)) }}
{%- else -%}
if({{ spark_cdc._quote(name) }} is null, null, {{ spark_cdc._typed_message(entity, spark_cdc._typed_fields(type), spark_cdc._quote(name) ~ '.') }})
{%- endif -%}
{%- endmacro -%}


{#- A column of a table as text; null where the table has none of that name. -#}
{%- macro _landed_text(name, types) -%}
{%- set column = spark_cdc._quote(name) -%}
{%- set type = types.get(name | lower) -%}
{%- if not type -%}
cast(null as string)
{%- elif type == 'binary' -%}
decode({{ column }}, 'UTF-8')
{%- elif type.split('<')[0] in ['struct', 'map', 'array'] -%}
{{ spark_cdc._typed_json(column) }}
{%- elif type == 'timestamp' -%}
{{ spark_cdc._instant_text(column) }}
{%- else -%}
cast({{ column }} as string)
{%- endif -%}
{%- endmacro -%}


{%- macro _landed_view(entity) -%}{{ return(entity.landed_as or 'landed_' ~ entity.name) }}{%- endmacro -%}


{#- The columns of that view that every source has, as SQL. -#}
{%- macro _landed_names(entity) -%}
    {%- set names = [] -%}
    {%- for column in entity.columns -%}{%- do names.append(spark_cdc._landed_column(entity, column)) -%}{%- endfor -%}
    {{ return((names + ['cdc__unparsed']) | unique | list) }}
{%- endmacro -%}


{#- A column of that view: of JSON under the declared name, since names there may differ by case
    alone; else under that in the source. -#}
{%- macro _landed_column(entity, column) -%}
    {%- set is_named = entity.source.facts.has_names and not (entity.events and entity.events.is_message) -%}
    {{ return(spark_cdc._quote(column.name if is_named else column.from)) }}
{%- endmacro -%}


{#- The view that staging reads. CSV is read with the header's columns as text, so that Spark finds
    rows with too few or too many fields and checks each further file's header. JSON lines become
    columns; format_string() makes U+FFFD of bytes that are not UTF-8, which finds them. Columns
    that may be missing are nulls. -#}
{%- macro _landed_view_sql(entity, times, found) -%}
{%- set facts, view = entity.source.facts, spark_cdc._landed_view(entity) -%}
{%- set missing, values, problems = spark_cdc._missing_columns(entity, found), [], [] -%}
{%- for column in found -%}
    {%- set raw, folder = spark_cdc._quote(column.col_name), column.get('folder') -%}
    {%- set completed = spark_cdc._completed_column(entity, column) if not facts.is_text and not (folder or column.get('is_null')) else none -%}
    {%- set value = spark_cdc._cast(folder, raw, true, entity.timezone) if folder
        else 'cast(null as ' ~ column.data_type ~ ')' if column.get('is_null') else completed or raw -%}
    {%- do column.update({'is_completed': true}) if completed -%}
    {%- do values.append(spark_cdc._aliased(value, raw)) -%}
    {%- set condition = spark_cdc._reject_condition(folder, raw, '(' ~ value ~ ')', true, entity) if folder else '' -%}
    {%- do problems.append('when ' ~ condition ~ '\n            then concat(' ~ spark_cdc._literal(column.col_name ~ ': ')
        ~ ', ' ~ spark_cdc._shown(raw) ~ ', ' ~ spark_cdc._literal(', which the folder is named for, is not accepted as ' ~ column.data_type) ~ ')') if condition -%}
{%- endfor -%}
{%- set is_as_found = not (found | selectattr('folder', 'defined') | list or found | selectattr('is_null', 'defined') | list
    or found | selectattr('is_completed', 'defined') | list) -%}
{%- if facts.has_header and spark_cdc._csv_is_as_declared(entity, found) -%}
{{ spark_cdc._csv_view_sql(entity, times, found, view) }}
{%- elif facts.has_names -%}
{%- set declared = entity.columns | map(attribute='from') | list -%}
{#- what stands behind the first line break is the row -#}
{%- set shown = "replace(value, '\\n', ' ')" if spark_cdc._json_is_multi_line(entity) else 'value' -%}
{%- set unexpected -%}array_except(map_keys(fields), array({{ spark_cdc._literals(declared) }})){%- endset -%}
create or replace temporary view {{ view }} as
select
    {% for column in entity.columns -%}
    fields[{{ spark_cdc._literal(column.from) }}] as {{ spark_cdc._landed_column(entity, column) }},
    {% endfor -%}
    case
        when fields is null then concat('not a JSON object', {{ spark_cdc._over_lines_hint('value') }}, ': ', left({{ shown }}, 200), char(10), value)
        when format_string('%s', value) <> value
            then concat('bytes that are not UTF-8: ', left(format_string('%s', {{ shown }}), 200), char(10), format_string('%s', value))
        when not endswith(trim(trailing ' \t\r' from value), '}') or {{ spark_cdc._is_misread('value') }}
            then concat({{ spark_cdc._misread_text('value') }}, ': ', left({{ shown }}, 200), char(10), value)
        when has_repeated_names
            then concat('a name more than once in a JSON object: ', left({{ shown }}, 200), char(10), value)
        {%- if entity.source.on_unexpected_column != 'ignore' %}
        when size({{ unexpected }}) > 0
            then concat(
                'unexpected columns: ',
                array_join({{ unexpected }}, ', '), char(10), value
            )
        {%- endif %}
    end as cdc__unparsed
    {%- if entity.events %},
    map_keys(fields) as cdc__names
    {%- endif %}
from (
    select
        value,
        {#- the object under such names; one that has a name twice is as it came #}
        if(names is null or {{ spark_cdc._has_repeated_names('object', 'names') }}, object, map_from_arrays(names, map_values(object))) as fields,
        {{ spark_cdc._has_repeated_names('object', 'names') }} as has_repeated_names
    from (
        select
            value,
            object,
            {#- columns of a database may differ by case alone -#}
            {{ spark_cdc._json_names('object', declared, is_exact=entity.events) | indent(12) }} as names
        from (
            select
                value,
                from_json({{ spark_cdc._json_document(entity, 'value') }}, 'map<string, string>', {# -#}
                    map('allowNonNumericNumbers', 'false', {{ spark_cdc._json_limits() }})) as object
            from {{ spark_cdc._files_view(entity) }}
            where trim(value) <> ''
        )
    )
)
{%- else -%}
create or replace temporary view {{ view }} as
select
    {{ '*' if is_as_found else values | join(',\n    ') }}
    {%- for name in found | map(attribute='col_name') if '\r\n' in name %},
    {{ spark_cdc._quote(name) }} as {{ spark_cdc._quote(name.replace('\r\n', '\n')) }}
    {%- endfor %}
    {%- for column in missing | unique(attribute='from') %},
    cast(null as {{ spark_cdc._typed_as(entity, column) }}) as {{ spark_cdc._quote(column.from) }}
    {%- endfor %}
    {%- if not facts.has_header %},
    {{ 'case\n        ' ~ problems | join('\n        ') ~ '\n    end' if problems else 'cast(null as string)' }} as cdc__unparsed
    {%- endif %}
from {{ spark_cdc._files_view(entity) }}
{%- endif -%}
{%- endmacro -%}


{#- The view that staging reads, without rows: for an entity that takes no files for an empty
    input. -#}
{%- macro _no_rows_view_sql(entity) -%}
{%- set is_message = entity.events and entity.events.is_message -%}
create or replace temporary view {{ spark_cdc._landed_view(entity) }} as
select
    {% for column in (entity.columns if entity.source.facts.has_names else entity.columns | unique(attribute='from'))
            if not is_message or column.role == 'control' -%}
    cast(null as {{ 'string' if entity.source.text else column.data_type }}) as {{ spark_cdc._landed_column(entity, column) }},
    {% endfor -%}
    {% if is_message -%}
    cast(null as string) as message,
    cast(null as string) as message_key
    {%- else -%}
    cast(null as string) as cdc__unparsed
    {%- endif %}
    {%- if entity.events and not is_message and entity.source.facts.has_names %},
    cast(null as array<string>) as cdc__names
    {%- endif %}
where false
{%- endmacro -%}


{#- Why an entity without any business date in its landing is not just idle: the folder does not
    exist on the server, or no date ever landed. An object store has no empty folders, so a missing
    one says nothing.
    Arguments: entity, last (time of the last committed load, or none).
    Returns a text, or none. -#}
{%- macro _landed_nowhere(entity, last) -%}
    {%- set source = entity.source -%}
    {%- if source.facts.reads == 'feed' or spark_cdc._reads_whole_table(source) -%}
        {{ return(none) }}
    {%- elif source.facts.reads == 'table' -%}
        {{ return(none if last is not none else 'no load is committed, and the table ' ~ spark_cdc._landing_source(entity) ~ ' has no business date in its column '
            ~ source.date_column ~ '. Deliver rows, or correct source.date_column') }}
    {%- endif -%}
    {%- set fixed = namespace(path=source.read_path.split('{business_date')[0]) -%}
    {%- for wildcard in '*?[{' -%}{%- set fixed.path = fixed.path.split(wildcard)[0] -%}{%- endfor -%}
    {%- set folder = fixed.path.rpartition('/')[0] -%}
    {%- set scheme, _, rest = folder.rpartition('://') -%}
    {%- set is_folder = folder and (not scheme or '/' in rest) -%}
    {%- set has_folders = scheme in ['', 'file', 'hdfs', 'viewfs', 'dbfs'] -%}
    {#- the plan for a missing path has the absolute path -#}
    {%- set missing = spark_cdc._lacks_path(folder) if is_folder and (has_folders or last is none) else none -%}
    {%- if missing is none and (last is not none or source.stream is mapping) -%}{{ return(none) }}{%- endif -%}
    {%- set below = spark_cdc._lacks_path(folder ~ '/no_such_folder') if missing is none and is_folder else none -%}
    {%- set seen = below.removesuffix('/no_such_folder') if below else folder or source.path -%}
    {{ return(
        ("the folder '" ~ missing ~ "' does not exist on the Spark server" if missing else 'no load is committed, and no business date has landed in ' ~ seen)
        ~ ' (source.path is ' ~ source.path ~ spark_cdc._relative_path_text(source.path) ~ '). Deliver files there, or correct source.path'
    ) }}
{%- endmacro -%}


{#- The declared columns that are not among those found, whatever their case. dbt makes a line feed
    of each line break in YAML. -#}
{%- macro _missing_columns(entity, found) -%}
    {%- set names, missing = found | map(attribute='col_name') | map('replace', '\r\n', '\n') | map('lower') | list, [] -%}
    {%- for column in entity.columns if column.from | lower not in names -%}{%- do missing.append(column) -%}{%- endfor -%}
    {{ return(missing) }}
{%- endmacro -%}


{#- Names for a message, as JSON where they have characters that nobody would see. -#}
{%- macro _names_shown(names) -%}
    {%- set shown = [] -%}
    {%- for name in names -%}
        {%- set unseen = name | select('in', '\u007f\u200b\u200c\u200d\u200e\u200f\u2060\ufeff') | list + name | select('lt', ' ') | list -%}
        {%- do shown.append(tojson(name) if unseen or name != name.split() | join(' ') else name) -%}
    {%- endfor -%}
    {{ return(shown | join(', ')) }}
{%- endmacro -%}


{#- Whether the reader takes a line for a record (or header): as Spark's do. `>=` is found fast. -#}
{%- macro _record_condition(entity) -%}
{%- set comment = spark_cdc._reader_option(entity, ['comment'], '') -%}
{%- if entity.source.facts.has_names -%}
trim(value) <> ''
{%- else -%}
(value >= '!' or value rlike '[^\\x00-\\x20]'){{ ' and not startswith(value, ' ~ spark_cdc._literal(comment) ~ ')' if comment }}
{%- endif -%}
{%- endmacro -%}


{#- The columns of files or a table, without the date column: rows {col_name, data_type}. Of JSON,
    the names in the first lines; later an unexpected name is a problem of its row. -#}
{%- macro _found_columns(entity, is_whole=false) -%}
{%- set sql -%}
select distinct explode(map_keys(from_json(value, 'map<string, string>', map({{ spark_cdc._json_limits() }})))) as col_name, 'string' as data_type {# -#}
from (select value from {{ spark_cdc._files_view(entity) }}{{ ' limit 1000' if not is_whole }})
{%- endset -%}
    {%- set rows = spark_cdc._query(sql) if entity.source.facts.has_names else spark_cdc._describe(spark_cdc._files_view(entity)) -%}
    {#- a date column that is declared is a column as others are -#}
    {%- set date_column = entity.source.date_column | default('', true) | lower -%}
    {%- set is_declared = date_column in entity.columns | map(attribute='from') | map('lower') -%}
    {%- set found = [] -%}
    {%- for column in rows if column.col_name and (is_declared or column.col_name | lower != date_column) -%}
        {%- do found.append(column) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
