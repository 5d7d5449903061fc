{#- Why a load is refused.
    Arguments: entity, guard (its name), problem (with the remedy; lines are joined, but for lists,
    whose lines are indented), then (what to do after that, with its command).
    Returns a dictionary, as all checks here do that find something: guard, message. -#}
{%- macro _load_refusal(entity, guard, problem, then='') -%}
    {%- set folded = namespace(text='', is_list=true) -%}
    {%- for line in (entity.name ~ ': ' ~ problem ~ '\nNothing was written.' ~ then).split('\n') -%}
        {#- an indented line and the one after it stand alone -#}
        {%- set is_list = line.startswith('  ') -%}
        {%- set break = '' if loop.first else '\n' if is_list or folded.is_list else ' ' -%}
        {%- set folded.text = folded.text ~ break ~ line -%}
        {%- set folded.is_list = is_list -%}
    {%- endfor -%}
    {{ return({'guard': guard, 'message': folded.text}) }}
{%- endmacro -%}


{#- Why a column that nobody declared can't be stored as it came, a text; none if it can. -#}
{%- macro _unaddable(entity, name, data_type) -%}
    {%- set node = spark_cdc.entity_node(entity.name) -%}
    {%- set columns = spark_cdc._columns_of(node) + [{'name': name, 'data_type': data_type, 'meta': {}}] -%}
    {%- set problems = spark_cdc._column_problems(columns, spark_cdc._settings_of(node))
        + spark_cdc._table_format_problems(columns, spark_cdc._settings_of(node)) -%}
    {{ return((problems + [none]) | first) }}
{%- endmacro -%}


{#- Compares the source's columns with the declared ones: names, and for typed formats whether each
    type becomes the declared one without a loss. Returns none, or a refusal. -#}
{%- macro _check_columns(entity, input, found) -%}
    {%- set found_names = found | map(attribute='col_name') | map('replace', '\r\n', '\n') | list -%}
    {%- set declared = entity.columns | map(attribute='from') | list -%}
    {%- set is_json = entity.source.facts.has_names -%}
    {%- set missing = spark_cdc._missing_columns(entity, found) | rejectattr('optional') -%}
    {#- events in JSON need not have all columns: see _check_event_columns() -#}
    {%- set missing = missing | selectattr('role', 'equalto', 'control') if entity.events and is_json else missing -%}
    {%- set missing = missing | map(attribute='from') | list -%}
    {%- set unexpected = [] -%}
    {%- for name in found_names if name | lower not in declared | map('lower') -%}{%- do unexpected.append(name) -%}{%- endfor -%}
    {%- for name in (declared if is_json else found_names) if (name | lower).startswith('cdc__') -%}
        {%- set problem -%}
{{ input }} has a column '{{ name }}'. Names that begin with cdc__ are those of spark_cdc's own columns.
Have it delivered under another name, or read a view on it that renames it.
        {%- endset -%}
        {{ return(spark_cdc._load_refusal(entity, 'unexpected_columns', problem)) }}
    {%- endfor -%}
    {%- set refused = {} -%}
    {%- if missing and not found_names and not is_json -%}
        {%- do refused.update({'missing_columns': 'missing: ' ~ spark_cdc._names_shown(missing) ~ ' (there is no header: the input is empty)'}) -%}
    {%- elif missing and found_names and entity.source.on_missing_column == 'error' -%}
        {%- do refused.update({'missing_columns': 'missing: ' ~ spark_cdc._names_shown(missing)}) -%}
    {%- endif -%}
    {%- if unexpected and entity.source.on_unexpected_column != 'ignore' -%}
        {%- do refused.update({'unexpected_columns': 'unexpected: ' ~ spark_cdc._names_shown(unexpected)}) -%}
        {%- if entity.source.on_unexpected_column == 'add' -%}
            {%- set reasons = [] -%}
            {%- for column in found if column.col_name in unexpected -%}
                {%- do reasons.append(spark_cdc._unaddable(entity, column.col_name, column.data_type) or 'not there when the run began: ' ~ column.col_name) -%}
            {%- endfor -%}
            {%- do refused.update({'unexpected_columns': refused.unexpected_columns ~ ", which can't be added: " ~ reasons | join('; ')}) -%}
        {%- endif -%}
    {%- endif -%}
    {%- if not refused -%}
        {{ return(none if is_json or entity.source.facts.has_header else spark_cdc._check_types(entity, input, found)) }}
    {%- endif -%}
    {%- set characters = (found_names | join).split() | join -%}
    {%- if '\ufffd' in characters or characters | select('lt', ' ') | list -%}
        {%- set problem -%}
the header of {{ input }} is no text. Is a file compressed? Spark goes by the name: one of gzip has to end in .gz,
as data.csv.gz does, of bzip2 in .bz2. If it is text in another encoding than UTF-8, name it in source.options.encoding.
  declared: {{ declared | join(', ') }}
        {%- endset -%}
        {{ return(spark_cdc._load_refusal(entity, refused | join(', '), problem)) }}
    {%- endif -%}
    {%- set problem -%}
the columns of {{ input }} are not the declared ones.
  {{ refused.values() | join('\n  ') }}
  found: {{ spark_cdc._names_shown(found_names) }}
  declared: {{ spark_cdc._names_shown(declared) }}
{% if found_names -%}
Correct the data or the columns of stg_{{ entity.name }}; `from` maps a name of the source. To accept them, set
source.on_missing_column: null or source.on_unexpected_column: ignore.
{%- else -%}
Deliver the input again: a file without rows has its header.
{%- endif -%}
    {%- endset -%}
    {%- if 'unexpected_columns' not in refused -%}{{ return(spark_cdc._load_refusal(entity, refused | join(', '), problem)) }}{%- endif -%}
    {%- set load = {'business_time': spark_cdc._business_date(entity.name)} -%}
    {%- set command = spark_cdc._skip_command(entity, load, ['unexpected_columns']) -%}
    {{ return(spark_cdc._load_refusal(entity, refused | join(', '), problem, ' To ignore unexpected columns this once:\n  ' ~ command)) }}
{%- endmacro -%}


{%- macro _check_types(entity, input, found) -%}
    {%- set problems, lacks = [], [] -%}
    {%- for one in spark_cdc._lossy_columns(entity, found) -%}
        {%- do lacks.extend(one.lacks) -%}
        {%- do problems.append(one.found.col_name ~ ' is ' ~ one.found.data_type ~ ', declared ' ~ one.column.data_type
            ~ (' with encoding: ' ~ one.column.encoding if one.column.encoding)) if not one.lacks -%}
    {%- endfor -%}
    {%- if lacks and not problems -%}
        {%- set problem -%}
the structs of {{ input }} lack fields that are declared.
  missing: {{ spark_cdc._names_shown(lacks) }}
Correct the data or the columns of stg_{{ entity.name }}. To read nulls in their place, set source.on_missing_column: null.
        {%- endset -%}
        {{ return(spark_cdc._load_refusal(entity, 'missing_columns', problem)) }}
    {%- endif -%}
    {%- if not problems -%}{{ return(none) }}{%- endif -%}
    {%- set problem -%}
types in {{ input }} do not turn into the declared ones without a loss.
  {{ problems | join('\n  ') }}
Declare the type found or a wider one in stg_{{ entity.name }}, or{{ ' leave out source.text, which takes text columns only' if entity.source.text
else ', where all columns hold text, set source.text: true' }}.
Numbers that count a time are read with encoding: nanos, micros, millis, seconds or days under meta of the column.
    {%- endset -%}
    {{ return(spark_cdc._load_refusal(entity, 'column_types', problem)) }}
{%- endmacro -%}


{#- Checks that the folders of a date's files that are named column=value have the same columns, one
    in the other in the same order: Spark can't read others. Argument: found (of
    _found_by_pattern()). Returns none, or a refusal. -#}
{%- macro _check_folders(entity, input, time, found) -%}
    {%- if not found.refusal -%}{{ return(none) }}{%- endif -%}
    {%- set sql = 'select path from binaryFile.`' ~ spark_cdc._landing_path(entity, [time]).replace('`', '``') ~ '` with ('
        ~ (["recursiveFileLookup = 'true'"] + spark_cdc._direct_options(entity)) | join(', ') ~ ')' -%}
    {%- set kinds, root = {}, spark_cdc._entries_folder(entity, time) -%}
    {%- for row in (spark_cdc._query(sql ~ ' order by path limit 10000') if not spark_cdc._plan_refusal(spark_cdc._plan(sql)) else []) -%}
        {%- set columns = [] -%}
        {%- for folder in spark_cdc._folders_below(root, row.path) if '=' in folder -%}
            {%- set name, value = folder.split('=', 1) -%}
            {%- do columns.append(name ~ ('' if value else '= without a value')) -%}
        {%- endfor -%}
        {%- do kinds.setdefault(columns | join(', ') or 'none', row.path) -%}
    {%- endfor -%}
    {#- else Spark can't list them for another reason, which its error tells -#}
    {%- if '=' not in kinds | join and kinds | length < 2 -%}{{ return(none) }}{%- endif -%}
    {%- set shown = [] -%}
    {%- for columns, path in kinds.items() -%}{%- do shown.append(columns ~ ', as of ' ~ path) -%}{%- endfor -%}
    {%- set problem -%}
the folders below {{ input }} do not name the same columns.
  {{ shown[:5] | join('\n  ') }}
Accepted are files in folders column=value of one depth, with the same columns in the same order. Move the files, or land those of each kind
in a path, and as an entity, of their own.
    {%- endset -%}
    {{ return(spark_cdc._load_refusal(entity, 'unread_files', problem)) }}
{%- endmacro -%}


{#- Checks that a load reads everything in its folder. Spark skips files of 0 bytes and nested
    folders silently, and a full load deletes the rows that it does not read. Names that begin with
    _ or . are skipped by convention.
    Arguments: entity, input (in words), time, found (of _found_by_pattern()), files (of
    _input_files()).
    Returns none, or a refusal. -#}
{%- macro _check_files(entity, input, time, found, files) -%}
    {%- if files.files -%}
        {%- set unread = spark_cdc._unread_entries(entity, time, files, found.count) -%}
        {%- if not unread -%}{{ return(none) }}{%- endif -%}
        {%- set problem -%}
Spark would skip a part of {{ input }}: {{ spark_cdc._some_of(unread) }}. Each is a file of 0 bytes or a folder
{{- ', or lies beside folders named column=value' if '=' in files.paths | join }}. Deliver the file again or remove it; move the files of a folder up, or match the folders by a pattern in source.path of stg_{{ entity.name }}.
        {%- endset -%}
        {{ return(spark_cdc._load_refusal(entity, 'unread_files', problem)) }}
    {%- elif entity.source.on_no_files == 'empty' -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set there = spark_cdc._entries(entity, time, files) if found.is_there else [] -%}
    {%- set problem -%}
there are no {{ input }}
{%- if there %}, only {{ there[:5] | join(', ') }} (files of 0 bytes, folders, and names that begin with _ or . are not read)
{%- elif found.missing %}: '{{ found.missing }}' does not exist on the Spark server{{ spark_cdc._relative_path_text(entity.source.path) }}{% endif -%}
. Accepted is at least one file; a file without rows has its header, or a line break in JSON. Deliver the files, or correct
source.path; where a missing file means no rows, set source.on_no_files: empty in stg_{{ entity.name }}.
    {%- endset -%}
    {%- set again = spark_cdc._load_command(entity, spark_cdc._business_date(entity.name)) -%}
    {{ return(spark_cdc._load_refusal(entity, 'no_files', problem, ' Then load the date again:\n  ' ~ again)) }}
{%- endmacro -%}


{#- The entries beside the files that are read, which Spark neither reads nor skips by
    convention. -#}
{%- macro _unread_entries(entity, time, files, count) -%}
    {%- if not count or spark_cdc._direct_options(entity) -%}
        {%- do log(entity.name ~ ': not looked for files of 0 bytes and for folders beside the files that are read, since '
            ~ ("Spark's plan does not tell" if not count else 'source.options choose among them'), info=true) -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set folder = spark_cdc._entries_folder(entity, time) -%}
    {%- set elsewhere = [] -%}
    {%- for path in files.paths if not path.rsplit('/', 1)[0].endswith(folder) -%}{%- do elsewhere.append(path) -%}{%- endfor -%}
    {#- Spark counts the folder with its files; a file, or a pattern of files, has no folder to
        count -#}
    {%- set expected = files.files + 1 if not elsewhere else files.files if '*' in spark_cdc._with_stars(folder) or files.files == 1 -%}
    {%- if count == expected -%}{{ return([]) }}{%- endif -%}
    {%- if not spark_cdc._takes('spark.sql.maxMetadataStringLength') -%}
        {#- a plan cuts its list of names off there: those that readers leave out are counted -#}
        {%- set left_out = '/{_,.}*' -%}
        {%- set hidden = spark_cdc._plan_paths(spark_cdc._plan('select 1 from text.`'
            ~ spark_cdc._landing_path(entity, [time]).rstrip('/').replace('`', '``') ~ left_out ~ '`')).count -%}
        {{ return([spark_cdc._counted(count - expected - hidden, 'more file') ~ ' or folders of ' ~ folder] if count > expected + hidden else []) }}
    {%- endif -%}
    {#- names that writers give to files without data -#}
    {%- set markers = ['_success', '_metadata', '_common_metadata', '_temporary', '_spark_metadata', '_delta_log', '_symlink_format_manifest'] -%}
    {%- set unread, skipped, own = [], [], [] -%}
    {%- for path in (spark_cdc._markers(entity, time, files) if entity.source.complete_when else []) -%}{%- do own.append(path.rsplit('/', 1)[-1]) -%}{%- endfor -%}
    {%- for entry in spark_cdc._entries(entity, time, files) if entry.rsplit('/', 1)[-1] not in own -%}
        {%- set name = entry.rsplit('/', 1)[-1] -%}
        {%- if name[:1] != '.' and (name[:1] != '_' or '=' in name) -%}
            {%- do unread.append(entry) -%}
        {%- elif name[:1] == '_' and name | lower not in markers and name.split('_')[1] not in ['committed', 'started'] -%}
            {%- do skipped.append(name) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if skipped and not unread -%}
        {#- cdc_loads shows it, from the record of the load -#}
        {%- do files.update({'skipped': spark_cdc._counted(skipped | length, 'file') ~ ' left out, whose names begin with _: ' ~ skipped[:20] | join(', ')}) -%}
        {%- do log(entity.name ~ ': ' ~ files.skipped, info=true) -%}
    {%- endif -%}
    {{ return(unread) }}
{%- endmacro -%}


{#- The paths in the folder beside the files that are read, without folders of these files. -#}
{%- macro _entries(entity, time, files) -%}
    {%- do spark_cdc._set('spark.sql.maxMetadataStringLength', '10000000') -%}
    {%- set rest = namespace(text=', ' ~ spark_cdc._found_by_pattern(entity, [time]).paths ~ ', ') -%}
    {%- for path in files.paths -%}{%- set rest.text = rest.text.replace(', ' ~ path ~ ', ', ', ', 1) -%}{%- endfor -%}
    {%- set folder = spark_cdc._entries_folder(entity, time) -%}
    {%- set entries = [] -%}
    {%- for entry in rest.text.split(', ') if entry and not entry.endswith(folder) and ('\n' ~ entry ~ '/') not in '\n' ~ files.paths | join('\n') -%}
        {%- do entries.append(entry) -%}
    {%- endfor -%}
    {{ return(entries) }}
{%- endmacro -%}
