{#- Messages that came typed, as Avro brings them, are read as the JSON that they stand for: so
    there is one way of reading them. Types are those that `describe` gives. -#}


{#- A message as JSON text.
    Arguments: entity, fields (a list of {col_name, data_type}), row (what stands before their
    names). -#}
{%- macro _typed_message(entity, fields, row='') -%}
{%- set parts = [] -%}
{%- for field in fields -%}
    {%- set sql = row ~ spark_cdc._quote(field.col_name) -%}
    {%- set is_image = field.col_name in spark_cdc._typed_images(entity) and field.data_type.startswith('struct<') -%}
    {%- do parts.append(spark_cdc._literal(field.col_name) ~ ', ' ~ (spark_cdc._typed_image(entity, sql, field.data_type) if is_image else sql)) -%}
{%- endfor -%}
{{ spark_cdc._typed_json('named_struct(\n    ' ~ parts | join(',\n    ') ~ '\n)') }}
{%- endmacro -%}


{#- The fields of a message that hold columns of the table. -#}
{%- macro _typed_images(entity) -%}{{ return(entity.events.images + ['key'] if entity.events.images else []) }}{%- endmacro -%}


{#- A struct of the table's columns with those values changed that JSON would bend, or write
    otherwise than the declared column is read. Decimals become text, for as a number in JSON they
    would be read as a double. What is a time without a zone in the source comes as an instant if
    Kafka Connect has made it one: its wall clock in UTC. -#}
{%- macro _typed_image(entity, sql, type) -%}
{%- set parts, changed = [], [] -%}
{%- for field in spark_cdc._typed_fields(type) -%}
    {%- set value = sql ~ '.' ~ spark_cdc._quote(field.col_name) -%}
    {%- set column = entity.stored | selectattr('from', 'equalto', field.col_name) | first | default({}) -%}
    {%- set text = 'cast(' ~ value ~ ' as string)' if field.data_type.startswith(('decimal', 'time('))
        else 'cast(' ~ spark_cdc._wall_clock(value) ~ ' as string)'
        if field.data_type == 'timestamp' and column.get('data_type') == 'timestamp_ntz' else value -%}
    {%- do parts.append(spark_cdc._literal(field.col_name) ~ ', ' ~ text) -%}
    {%- do changed.append(text) if text != value -%}
{%- endfor -%}
{{ 'if(' ~ sql ~ ' is null, null, named_struct(' ~ parts | join(', ') ~ '))' if changed else sql }}
{%- endmacro -%}


{#- JSON text of a struct, map or array: with nulls and all digits of times, and the same in each
    session. -#}
{%- macro _typed_json(sql) -%}
to_json({{ sql }}, map('ignoreNullFields', 'false', 'timeZone', 'UTC', {# -#}
'timestampFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSSXXX', 'timestampNTZFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSS'))
{%- endmacro -%}


{#- The fields of a struct, from its type as `describe` gives it.
    Returns a list of {col_name, data_type}. -#}
{%- macro _typed_fields(type) -%}
    {%- set fields = [] -%}
    {%- for part in spark_cdc._split_outside(type[7:-1], ',') if part -%}
        {%- set name, data_type = part.split(':', 1) -%}
        {%- do fields.append({'col_name': name, 'data_type': data_type}) -%}
    {%- endfor -%}
    {{ return(fields) }}
{%- endmacro -%}


{#- What does not go together in the types of messages that came typed and what is declared of their
    columns. A number does not say whether it is one or a time, and of which unit, so the
    declaration has to.
    Arguments: entity, columns (of one schema).
    Returns a list of texts. -#}
{%- macro _typed_message_problems(entity, columns) -%}
    {%- set problems = [] -%}
    {%- set value = (columns | selectattr('col_name', 'equalto', 'value') | list + [none]) | first -%}
    {%- set fields = columns | selectattr('col_name', 'equalto', 'key') | list if value else columns -%}
    {%- set fields = fields + (spark_cdc._typed_fields(value.data_type) if value and value.data_type.startswith('struct<') else []) -%}
    {%- set names = columns | map(attribute='col_name') | list + columns | map(attribute='data_type') | list -%}
    {%- for name in (names | join(',')).replace('<', ',').replace('>', ',').replace(':', ',').split(',') if '${' in name -%}
        {%- do problems.append(name ~ ' has ${ in its name, in the place of which Spark puts a setting: rename it in the source') -%}
    {%- endfor -%}
    {%- set times, numbers = ['date', 'timestamp', 'timestamp_ntz'], ['boolean', 'integer', 'decimal', 'float', 'double'] -%}
    {%- for field in fields if field.col_name in spark_cdc._typed_images(entity) and field.data_type.startswith('struct<') -%}
        {%- for one in spark_cdc._typed_fields(field.data_type) -%}
            {%- for column in entity.stored | selectattr('from', 'equalto', one.col_name) -%}
                {%- set found = 'time' if one.data_type.startswith('time(') else spark_cdc._hash_type(one.data_type).get('kind') -%}
                {%- set wanted, encoding = spark_cdc._hash_type(column.data_type).kind, column.encoding -%}
                {%- do problems.extend(spark_cdc._failed_rules({
                    'as': one.col_name ~ ' is ' ~ one.data_type ~ ', declared ' ~ column.data_type,
                    'encoding': encoding, 'format': column.format,
                }, [
                    (encoding == 'base64' and found not in ['string', 'binary', 'struct', none],
                     '%(as)s with encoding: base64, which is for bytes: leave it out'),
                    (encoding and encoding != 'base64' and found not in ['string', 'integer', none],
                     '%(as)s with encoding: %(encoding)s, which is for whole numbers: leave it out'),
                    (not encoding and wanted in times and found in numbers,
                     '%(as)s: say by encoding: what the number counts, days, seconds, millis, micros or nanos, as the connector is set'),
                    (not encoding and wanted == 'decimal' and found == 'binary',
                     '%(as)s: say encoding: base64, for bytes of an unscaled number, whose scale is the declared one'),
                    (column.format and found in times + ['binary'], '%(as)s with format: %(format)s, which is for text: leave it out'),
                    (not encoding and wanted in numbers and found in times + ['time'], '%(as)s: declare the type found, or string'),
                    (wanted in times and found == 'time', '%(as)s: declare it string'),
                ])[:1]) -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(problems | unique(case_sensitive=true) | list) }}
{%- endmacro -%}


{#- Checks the types of messages that came typed. Arguments: entity, input (in words), schemas (of
    _file_schemas(), or of one without paths). Returns none, or a refusal. -#}
{%- macro _check_message_types(entity, input, schemas) -%}
    {%- set problems = [] -%}
    {%- for schema in schemas -%}
        {%- for problem in spark_cdc._typed_message_problems(entity, schema.columns) -%}
            {%- do problems.append(problem ~ (', as in ' ~ schema.paths[0] if schemas | length > 1 else '')) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if not problems -%}{{ return(none) }}{%- endif -%}
    {%- set problem -%}
types in {{ input }} are not what the declared columns say of them.
  {{ problems | join('\n  ') }}
Correct the columns of stg_{{ entity.name }}: see the types of messages from Avro in docs/formats/debezium.md.
    {%- endset -%}
    {{ return(spark_cdc._load_refusal(entity, 'column_types', problem)) }}
{%- endmacro -%}


{#- The files of business dates as a relation, without a view: with a reader of Spark's own, and
    those of the entity's options that say which files are read (and more, in lower case). Options
    in a query are known to Spark 4 only. -#}
{%- macro _direct_sql(entity, times, reader, more=[]) -%}
{%- set options = spark_cdc._direct_options(entity, more) -%}
{{ reader }}.`{{ spark_cdc._landing_path(entity, times).replace('`', '``') }}`{{ ' with (' ~ options | join(', ') ~ ')' if options }}
{%- endmacro -%}


{%- macro _direct_options(entity, more=[]) -%}
    {%- set options = [] -%}
    {%- for name, value in entity.source.options.items() if name | lower in ['pathglobfilter', 'modifiedbefore', 'modifiedafter'] + more -%}
        {%- do options.append(spark_cdc._literal(name) ~ ' = ' ~ spark_cdc._reader_option_literal(name, value)) -%}
    {%- endfor -%}
    {{ return(options) }}
{%- endmacro -%}


{#- Whether every value of one type is a value of the other. -#}
{%- macro _is_lossless(found, declared) -%}
    {%- set found, declared = spark_cdc._plain_type_shown(found), spark_cdc._plain_type_shown(declared) -%}
    {%- set integers = {'tinyint': 3, 'smallint': 5, 'int': 10, 'bigint': 19} -%}
    {%- set wider = {'tinyint': ['smallint', 'int', 'bigint', 'float', 'double'], 'smallint': ['int', 'bigint', 'float', 'double'],
                     'int': ['bigint', 'double'], 'bigint': [], 'float': ['double'], 'date': ['timestamp_ntz']} -%}
    {%- set digits = spark_cdc._decimal_digits(declared) -%}
    {%- set found_digits = [integers[found], 0] if found in integers else spark_cdc._decimal_digits(found) -%}
    {%- if digits and found_digits -%}{{ return(digits[0] >= found_digits[0] and digits[1] >= found_digits[1]) }}{%- endif -%}
    {%- set is_text = found.split('(')[0] in ['char', 'varchar'] -%}
    {{ return(found == declared or is_text and declared == 'string' or declared in wider.get(found, [])) }}
{%- endmacro -%}


{#- The columns found whose values need not all be values of the declared ones: a list of
    dictionaries with found, column, type (that it must have, where values may be encoded) and lacks
    (of _fields_lacking(); nulls stand for these fields where columns may be missing). -#}
{%- macro _lossy_columns(entity, found) -%}
    {%- set lossy = [] -%}
    {%- for column in entity.columns -%}
        {%- set type = spark_cdc._typed_as(entity, column) -%}
        {%- for one in found if one.col_name | lower == column.from | lower and not spark_cdc._is_lossless(one.data_type | lower, type) -%}
            {%- set lacks = spark_cdc._fields_lacking(one, column, type) -%}
            {%- do lossy.append({'found': one, 'column': column, 'type': type, 'lacks': lacks})
                    if not lacks or entity.source.on_missing_column == 'error' -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(lossy) }}
{%- endmacro -%}


{#- The type in which a column of typed files has to come. -#}
{%- macro _typed_as(entity, column) -%}
    {{ return('string' if entity.source.text or column.encoding == 'base64' else 'bigint' if column.encoding else column.data_type) }}
{%- endmacro -%}


{#- The type of a column of files and the one that it should have, both as of _hash_type(). -#}
{%- macro _types_compared(found, type) -%}
    {{ return([spark_cdc._hash_type(spark_cdc._plain_type_shown(found.data_type)), spark_cdc._hash_type(spark_cdc._plain_type_shown(type))]) }}
{%- endmacro -%}


{#- The fields of declared structs that a column of files lacks, if it is the declared one apart
    from these. Returns a list of names, empty if there are none or it differs otherwise. -#}
{%- macro _fields_lacking(found, column, type) -%}
    {%- set types = spark_cdc._types_compared(found, type) -%}
    {%- if types | selectattr('problem') | list or 'fields' not in types[0] or 'fields' not in types[1] -%}{{ return([]) }}{%- endif -%}
    {{ return(spark_cdc._fields_lacking_of(types[0], types[1], column.name) or []) }}
{%- endmacro -%}


{#- Arguments: found, declared (of _hash_type()), name (of the column or field). Returns a list of
    names, or none where the types differ otherwise. -#}
{%- macro _fields_lacking_of(found, declared, name) -%}
    {%- if 'fields' not in found or 'fields' not in declared -%}
        {{ return([] if 'text' in found and 'text' in declared and spark_cdc._is_lossless(found.text | lower, declared.text) else none) }}
    {%- elif found.kind != declared.kind or found.kind == 'map' and spark_cdc._fields_lacking_of(found.key, declared.key, name) != [] -%}
        {{ return(none) }}
    {%- elif found.kind != 'struct' -%}
        {{ return(spark_cdc._fields_lacking_of(found.value, declared.value, name)) }}
    {%- endif -%}
    {%- set own, lacks = {}, [] -%}
    {%- for field in found.fields -%}{%- do own.update({field.name | lower: field.type}) -%}{%- endfor -%}
    {%- for field in declared.fields -%}
        {%- set type = own.pop(field.name | lower, none) -%}
        {%- set rest = [name ~ '.' ~ field.name] if type is none else spark_cdc._fields_lacking_of(type, field.type, name ~ '.' ~ field.name) -%}
        {%- if rest is none -%}{{ return(none) }}{%- endif -%}
        {%- do lacks.extend(rest) -%}
    {%- endfor -%}
    {{ return(none if own else lacks) }}
{%- endmacro -%}


{#- A value with nulls for the fields that its structs lack, in the order of the declared ones.
    Arguments: sql, found, declared (of _hash_type()), depth (of what stands around it). -#}
{%- macro _completed_value(sql, found, declared, depth=0) -%}
{%- set part = 'part_' ~ depth -%}
{%- if found.kind == 'array' -%}
transform({{ sql }}, {{ part }} -> {{ spark_cdc._completed_value(part, found.element, declared.element, depth + 1) }})
{%- elif found.kind == 'map' -%}
transform_values({{ sql }}, (key_{{ depth }}, {{ part }}) -> {{ spark_cdc._completed_value(part, found.value, declared.value, depth + 1) }})
{%- elif found.kind == 'struct' -%}
{%- set own, fields = {}, [] -%}
{%- for field in found.fields -%}{%- do own.update({field.name | lower: field}) -%}{%- endfor -%}
{%- for field in declared.fields -%}
    {%- set former = own.get(field.name | lower) -%}
    {%- set value = spark_cdc._completed_value(sql ~ '.' ~ spark_cdc._quote(former.name), former.type, field.type, depth + 1) if former else 'null' -%}
    {%- do fields.append(spark_cdc._literal(field.name) ~ ', ' ~ value) -%}
{%- endfor -%}
if({{ sql }} is null, null, named_struct({{ fields | join(', ') }}))
{%- else -%}
{{ sql }}
{%- endif -%}
{%- endmacro -%}


{#- A column of files as the view has it that staging reads; none if it is read as it is. -#}
{%- macro _completed_column(entity, found) -%}
    {%- for column in entity.columns if column.from | lower == found.col_name | lower and not entity.source.text and not column.encoding -%}
        {%- if spark_cdc._fields_lacking(found, column, column.data_type) -%}
            {%- set types = spark_cdc._types_compared(found, column.data_type) -%}
            {{ return('cast(' ~ spark_cdc._completed_value(spark_cdc._quote(found.col_name), types[0], types[1]) ~ ' as ' ~ column.data_type ~ ')') }}
        {%- endif -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- The columns of typed files, file by file: Spark reads all by the columns of one, so that where a
    file lacks a column, or has it under another name, null stands for what another file has. Told
    by the footers, which a statement reads for 50 files: it costs what the files cost to open, not
    what their rows cost to read.
    Arguments: entity, paths, found (the columns of all, as Spark reads them), folders (of
    _folder_columns()).
    Returns a list with one dictionary per list of columns that occurs: paths (of the files with
    it), columns ({col_name, data_type}). -#}
{%- macro _file_schemas(entity, paths, found, folders=[]) -%}
    {%- set schemas = {} -%}
    {%- for some in paths | batch(50) -%}
        {%- set described, names, relations = [], [], [] -%}
        {%- for path in some -%}
            {%- do names.append('1 as _spark_cdc_file,\n    file_' ~ loop.index ~ '.*') -%}
            {%- do relations.append(entity.source.facts.reader ~ '.`' ~ path.replace('`', '``') ~ '` as file_' ~ loop.index) -%}
        {%- endfor -%}
        {%- for row in spark_cdc._describe_query('select\n    ' ~ names | join(',\n    ') ~ '\nfrom\n    '
                ~ relations | join(',\n    ')) -%}
            {%- do described.append([]) if row.col_name == '_spark_cdc_file'
                    else described[-1].append({'col_name': row.col_name, 'data_type': row.data_type}) -%}
        {%- endfor -%}
        {%- for path in some -%}
            {#- folders named column=value are columns of their files -#}
            {%- set columns = [] -%}
            {%- for column in found if column.col_name | lower in folders and '/' ~ column.col_name | lower ~ '=' in path | lower -%}
                {%- do columns.append(column) -%}
            {%- endfor -%}
            {%- for column in described[loop.index0] if column.col_name | lower not in folders -%}
                {%- do columns.append(column) -%}
            {%- endfor -%}
            {%- set schema = schemas.setdefault(tojson(columns | sort(attribute='col_name')), {'paths': [], 'columns': columns}) -%}
            {%- do schema.paths.append(path) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(schemas.values() | list) }}
{%- endmacro -%}


{#- Whether Avro's files are read by one schema that the entity gives, and not by their own. -#}
{%- macro _has_reader_schema(entity) -%}
    {{ return(spark_cdc._reader_option(entity, entity.source.facts.schema_options, none) is not none) }}
{%- endmacro -%}


{#- An entity once per schema of its files, each with the files that have it and `found`: Spark
    reads all files of Avro by the columns of one, where names differ by case and defaults take the
    place of nulls. Arguments: entity, times, schemas (of _file_schemas()). -#}
{%- macro _schema_parts(entity, times, schemas) -%}
    {%- set parts = [] -%}
    {%- for schema in schemas -%}
        {%- set of_paths = spark_cdc._path_options(entity, times, schema.paths) -%}
        {%- set source = dict(entity.source, read_path=of_paths.pop('path'), options=dict(entity.source.options, **of_paths)) -%}
        {%- do parts.append({
            'entity': dict(entity, name=entity.name ~ '_schema_' ~ loop.index, source=source), 'found': schema.columns
        }) -%}
    {%- endfor -%}
    {{ return(parts) }}
{%- endmacro -%}


{#- The rows of several views that staging reads, as one of them. -#}
{%- macro _landed_parts_sql(entity, parts) -%}
{%- set names, selects = spark_cdc._landed_names(entity) | join(',\n    '), [] -%}
{%- for part in parts -%}{%- do selects.append('select\n    ' ~ names ~ '\nfrom ' ~ spark_cdc._landed_view(part)) -%}{%- endfor -%}
create or replace temporary view {{ spark_cdc._landed_view(entity) }} as
{{ selects | join('\n\nunion all\n\n') }}
{%- endmacro -%}


{#- Whether each file's columns are the declared ones, and of one type in all. Returns none, or why
    the load is to be refused: {guard, message}. -#}
{%- macro _check_schemas(entity, schemas) -%}
    {%- set types = {} -%}
    {%- for schema in schemas -%}
        {%- set name = entity.source.format ~ ' file ' ~ schema.paths[0]
            ~ (' (and ' ~ spark_cdc._counted(schema.paths | length - 1, 'other') ~ ')' if schema.paths | length > 1 else '') -%}
        {%- set refusal = spark_cdc._check_columns(entity, name, schema.columns) -%}
        {%- if refusal -%}{{ return(refusal) }}{%- endif -%}
        {%- for column in schema.columns if not spark_cdc._completed_column(entity, column) -%}
            {%- do types.setdefault(column.col_name | lower, {}).setdefault(column.data_type, name) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set problems = [] -%}
    {%- for column, by_type in types.items() if by_type | length > 1 -%}
        {%- for data_type, name in by_type.items() -%}{%- do problems.append(column ~ ' is ' ~ data_type ~ ' in ' ~ name) -%}{%- endfor -%}
    {%- endfor -%}
    {%- if not problems -%}{{ return(none) }}{%- endif -%}
    {%- set problem -%}
the files of one load have columns of other types than each other.
  {{ problems | join('\n  ') }}
Deliver them alike.
    {%- endset -%}
    {{ return(spark_cdc._load_refusal(entity, 'column_types', problem)) }}
{%- endmacro -%}
