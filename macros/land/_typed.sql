{#- Messages that came typed, as Avro brings them, are read as the JSON that they stand for: so there is one way of reading them. Types are those that
    `describe` gives. -#}


{#- A message as JSON text. Arguments: entity, fields (a list of {col_name, data_type}), row (what stands before their names). -#}
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


{#- A struct of the table's columns with those values changed that JSON would bend, or write otherwise than the declared column is read. -#}
{%- macro _typed_image(entity, sql, type) -%}
{%- set parts, changed = [], [] -%}
{%- for field in spark_cdc._typed_fields(type) -%}
    {%- set value = sql ~ '.' ~ spark_cdc._quote(field.col_name) -%}
    {%- set column = entity.stored | selectattr('from', 'equalto', field.col_name) | first | default(none) -%}
    {%- set text = spark_cdc._typed_value(value, field.data_type, column) -%}
    {%- do parts.append(spark_cdc._literal(field.col_name) ~ ', ' ~ text) -%}
    {%- do changed.append(field.col_name) if text != value -%}
{%- endfor -%}
{%- if not changed -%}
{{ sql }}
{%- else -%}
if({{ sql }} is null, null, named_struct({{ parts | join(', ') }}))
{%- endif -%}
{%- endmacro -%}


{#- Decimals as text, for as a number in JSON they would be read as a double. What is a time without a zone in the source comes as an instant
    if Kafka Connect has made it one: its wall clock in UTC. -#}
{%- macro _typed_value(value, type, column) -%}
{%- if type.startswith(('decimal', 'time(')) -%}
cast({{ value }} as string)
{%- elif type == 'timestamp' and column and column.data_type == 'timestamp_ntz' -%}
{{ spark_cdc._wall_clock_text(value) }}
{%- else -%}
{{ value }}
{%- endif -%}
{%- endmacro -%}


{#- JSON text of a struct, map or array: with nulls and all digits of times, and the same in each session. -#}
{%- macro _typed_json(sql) -%}
to_json({{ sql }}, map('ignoreNullFields', 'false', 'timeZone', 'UTC', {# -#}
'timestampFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSSXXX', 'timestampNTZFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSS'))
{%- endmacro -%}


{#- The fields of a struct, from its type as `describe` gives it. Returns a list of {col_name, data_type}. -#}
{%- macro _typed_fields(type) -%}
    {%- set fields = [] -%}
    {%- for part in spark_cdc._hash_type_parts(type[7:-1]) if part -%}
        {%- set name, data_type = part.split(':', 1) -%}
        {%- do fields.append({'col_name': name, 'data_type': data_type}) -%}
    {%- endfor -%}
    {{ return(fields) }}
{%- endmacro -%}


{#- What does not go together in the types of messages that came typed and what is declared of their columns. A number does not say whether it is one or
    a time, and of which unit, so the declaration has to. Arguments: entity, columns (of one schema). Returns a list of texts. -#}
{%- macro _typed_message_problems(entity, columns) -%}
    {%- set problems = {} -%}
    {%- set value = columns | selectattr('col_name', 'equalto', 'value') | first | default(none) -%}
    {%- set fields = columns | selectattr('col_name', 'equalto', 'key') | list if value else columns -%}
    {%- set fields = fields + (spark_cdc._typed_fields(value.data_type) if value and value.data_type.startswith('struct<') else []) -%}
    {%- set names = columns | map(attribute='col_name') | list + columns | map(attribute='data_type') | list -%}
    {%- for name in modules.re.findall('[^<>,:]*[$][{][^<>,:]*', names | join(',')) -%}
        {%- do problems.update({name ~ ' has ${ in its name, in the place of which Spark puts a setting: rename it in the source': none}) -%}
    {%- endfor -%}
    {%- for field in fields if field.col_name in spark_cdc._typed_images(entity) and field.data_type.startswith('struct<') -%}
        {%- for found in spark_cdc._typed_fields(field.data_type) -%}
            {%- for column in entity.stored if column.from == found.col_name -%}
                {%- set problem = spark_cdc._typed_value_problem(column, found.data_type) -%}
                {%- do problems.update({found.col_name ~ ' is ' ~ found.data_type ~ ', declared ' ~ problem: none}) if problem -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(problems | list) }}
{%- endmacro -%}


{#- What is wrong with what is declared of a column, for values of a type. Returns text, or none. -#}
{%- macro _typed_value_problem(column, type) -%}
    {%- set found = 'time' if type.startswith('time(') else spark_cdc._hash_type(type).get('kind') -%}
    {%- set wanted = spark_cdc._hash_type(column.data_type).kind -%}
    {%- set times, numbers = ['date', 'timestamp', 'timestamp_ntz'], ['boolean', 'integer', 'decimal', 'float', 'double'] -%}
    {{ return(spark_cdc._broken({'type': column.data_type, 'encoding': column.encoding, 'format': column.format}, [
        (column.encoding == 'base64' and found not in ['string', 'binary', 'struct', none],
         '%(type)s with encoding: base64, which is for bytes: leave it out'),
        (column.encoding and column.encoding != 'base64' and found not in ['string', 'integer', none],
         '%(type)s with encoding: %(encoding)s, which is for whole numbers: leave it out'),
        (not column.encoding and wanted in times and found in numbers,
         '%(type)s: say by encoding: what the number counts, days, seconds, millis, micros or nanos, as the connector is set'),
        (not column.encoding and wanted == 'decimal' and found == 'binary',
         '%(type)s: say encoding: base64, for bytes of an unscaled number, whose scale is the declared one'),
        (column.format and found in times + ['binary'], '%(type)s with format: %(format)s, which is for text: leave it out'),
        (not column.encoding and wanted in numbers and found in times + ['time'], '%(type)s: declare the type found, or string'),
        (wanted in times and found == 'time', '%(type)s: declare it string'),
    ]) | first | default(none)) }}
{%- endmacro -%}
