{#- Whether a load reads all that lies where its files are. Spark skips files of 0 bytes and folders within the folder without a word, and in a full
    load what is not read is deleted. Names that begin with _ or . are skipped by convention.
    Arguments: entity, input (in words), time, found (of _found_by_pattern()), files (of _input_files()). Returns none, or why the load is to
    be refused: {guard, message}. -#}
{%- macro _check_files(entity, input, time, found, files) -%}
    {%- if files.files -%}
        {%- set unread = spark_cdc._unread_entries(entity, time, files, found.count) -%}
        {%- if not unread -%}{{ return(none) }}{%- endif -%}
        {%- set message -%}
{{ entity.name }}: not all of {{ input }} would be read; left out would be {{ unread[:5] | join(', ') }}
{{- ' and ' ~ (unread | length - 5) ~ ' more' if unread | length > 5 }}. Each is a file of 0 bytes or a folder, which Spark skips. Deliver such a file {# -#}
anew or take it away; move the files of a folder up, or name the folders by a pattern in source.path of stg_{{ entity.name }}. Nothing was written.
        {%- endset -%}
        {{ return({'guard': 'unread_files', 'message': message}) }}
    {%- elif entity.source.on_no_files == 'empty' -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set there = spark_cdc._entries(entity, time, files) if found.is_there else [] -%}
    {%- set message -%}
{{ entity.name }}: there is no file to read: no {{ input }}
{%- if there %}, only {{ there[:5] | join(', ') }} (files of 0 bytes, folders, and names that begin with _ or . are not read)
{%- elif not found.is_there %}, which is not there{{ ': ' ~ found.missing ~ ' does not exist on the Spark server' if found.missing }}{% endif -%}
. That is not an empty input: one without rows has its header, JSON a line break. Deliver the files, or correct source.path; where no file {# -#}
means that nothing came, set source.on_no_files: empty in stg_{{ entity.name }}. Nothing was written.
    {%- endset -%}
    {{ return({'guard': 'no_files', 'message': message}) }}
{%- endmacro -%}


{#- What lies beside the files that are read and is neither read nor meant to be skipped. -#}
{%- macro _unread_entries(entity, time, files, count) -%}
    {%- if not count or spark_cdc._direct_options(entity) -%}
        {%- do log(entity.name ~ ': not looked for files of 0 bytes and for folders beside the files that are read, since '
            ~ ("Spark's plan does not tell" if not count else 'source.options choose among them'), info=true) -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set folder = spark_cdc._entries_folder(entity, time) -%}
    {%- set elsewhere = [] -%}
    {%- for path in files.paths if not path.rsplit('/', 1)[0].endswith(folder) -%}{%- do elsewhere.append(path) -%}{%- endfor -%}
    {#- a folder that holds just these files; a file by its name, or a pattern of such; else the names tell -#}
    {%- set expected = files.files + 1 if not elsewhere else files.files if modules.re.search('[*?{[]', folder) or files.files == 1 -%}
    {%- if count == expected -%}{{ return([]) }}{%- endif -%}
    {%- set unread, skipped = [], [] -%}
    {%- for entry in spark_cdc._entries(entity, time, files) -%}
        {%- set name = entry.rsplit('/', 1)[-1] -%}
        {%- if name[:1] != '.' and (name[:1] != '_' or '=' in name) -%}
            {%- do unread.append(entry) -%}
        {%- elif name[:1] == '_' and not spark_cdc._is_marker(name) -%}
            {%- do skipped.append(name) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if skipped and not unread -%}
        {#- in the record of the load, and from there in cdc_loads -#}
        {%- do files.update({'skipped': spark_cdc._counted(skipped | length, 'file') ~ ' left out, whose names begin with _: ' ~ skipped[:20] | join(', ')}) -%}
        {%- do log(entity.name ~ ': ' ~ files.skipped, info=true) -%}
    {%- endif -%}
    {{ return(unread) }}
{%- endmacro -%}


{#- Whether a name is one that writers give to what is no data. -#}
{%- macro _is_marker(name) -%}
    {{ return(name | lower in ['_success', '_metadata', '_common_metadata', '_temporary', '_spark_metadata', '_delta_log', '_symlink_format_manifest']
        or name.startswith('_committed_') or name.startswith('_started_')) }}
{%- endmacro -%}


{#- The paths that lie in the folder beside the files that are read. Folders that hold some of these are none of them. -#}
{%- macro _entries(entity, time, files) -%}
    {%- do spark_cdc._send('set spark.sql.maxMetadataStringLength = 10000000') -%}
    {%- set rest = namespace(text=', ' ~ spark_cdc._found_by_pattern(entity, time).paths ~ ', ') -%}
    {%- for path in files.paths -%}{%- set rest.text = rest.text.replace(', ' ~ path ~ ', ', ', ', 1) -%}{%- endfor -%}
    {%- set folder = spark_cdc._entries_folder(entity, time) -%}
    {%- set entries = [] -%}
    {%- for entry in rest.text.split(', ') if entry and not entry.endswith(folder) and ('\n' ~ entry ~ '/') not in '\n' ~ files.paths | join('\n') -%}
        {%- do entries.append(entry) -%}
    {%- endfor -%}
    {{ return(entries) }}
{%- endmacro -%}
