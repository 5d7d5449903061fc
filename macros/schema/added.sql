{#- The columns that came in for a load and that nobody declared, as far as they can be stored under
    their own names (source.on_unexpected_column: add): with the types that Spark finds, also in
    messages that came typed, as from a schema registry; of CSV and JSON string. JSON and messages
    are read for it once more. What can't be stored is left to the checks of the load, which refuse
    it.
    Arguments: entity, landing (the dbt source of a table), time (business time). Returns a
    dictionary from name to type. -#}
{%- macro _new_columns(entity, landing, time) -%}
    {%- set files = spark_cdc._input_files(entity, [time], spark_cdc._found_by_pattern(entity, [time]))[0] if spark_cdc._reads_files(entity) else none -%}
    {%- set new, names = {}, [] -%}
    {%- if files and not files.files -%}{{ return(new) }}{%- endif -%}
    {%- for column in spark_cdc._undeclared_columns(entity, landing, time, files) -%}
        {%- set name = column.col_name -%}
        {%- if name | lower not in names and not (name | lower).startswith('cdc__') and not spark_cdc._unaddable(entity, name, column.data_type) -%}
            {%- do new.update({name: column.data_type}) -%}
            {%- do names.append(name | lower) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(new) }}
{%- endmacro -%}


{#- Those columns, as a list of {col_name, data_type}; none if the input can't be read. -#}
{%- macro _undeclared_columns(entity, landing, time, files) -%}
    {%- set facts, sent = entity.source.facts, [] -%}
    {%- if entity.events and (entity.events.is_message or facts.has_names) -%}
        {%- set lenient = dict(entity, source=dict(entity.source, on_unexpected_column='ignore')) -%}
        {%- if spark_cdc._land(lenient, landing, time, files) -%}{{ return([]) }}{%- endif -%}
        {%- set sql -%}
select to_json(array_sort(array_distinct(flatten(collect_set(event_unexpected))))) as names
from (
    {{ spark_cdc._stage_events_sql(lenient, spark_cdc._landed_view(entity)) | indent(4) }}
) as events
        {%- endset -%}
        {%- set types = {} if facts.has_names else spark_cdc._typed_message_types(lenient, files) -%}
        {%- for name in fromjson(spark_cdc._query(sql)[0].names) -%}{%- do sent.append({'col_name': name, 'data_type': types.get(name, 'string')}) -%}{%- endfor -%}
        {{ return(sent) }}
    {%- elif facts.reads == 'feed' -%}
        {%- set looked, found = {}, spark_cdc._describe_query('select * from ' ~ landing) | list -%}
    {%- else -%}
        {%- set looked = spark_cdc._looked_at(entity, landing, time, files) -%}
        {%- if looked.refusal -%}{{ return([]) }}{%- endif -%}
        {%- set found = spark_cdc._found_columns(entity, is_whole=true) if facts.has_names else looked.found | list -%}
        {%- for schema in looked.schemas -%}{%- do found.extend(schema.columns) -%}{%- endfor -%}
    {%- endif -%}
    {%- set declared = entity.columns | map(attribute='from') | map('lower') | list -%}
    {#- what stands in the names of folders is no part of the rows -#}
    {%- set folders = looked.get('folders', []) -%}
    {%- for column in found if column.col_name and column.col_name | lower not in declared + folders -%}{%- do sent.append(column) -%}{%- endfor -%}
    {{ return(sent | sort(attribute='col_name')) }}
{%- endmacro -%}


{#- The types of columns in the images of messages that came typed, by name: of numbers, times and
    texts. Bytes and nested values are text in an image, and so is what has several types. -#}
{%- macro _typed_message_types(entity, files) -%}
    {%- set types, images = {}, spark_cdc._typed_images(entity) -%}
    {%- set found = spark_cdc._describe_query('select * from ' ~ spark_cdc._files_view(entity)) | list -%}
    {%- set schemas = spark_cdc._file_schemas(entity, files.paths, found) if files and files.files > 1 else [{'columns': found}] -%}
    {%- set kinds = ['string', 'boolean', 'integer', 'decimal', 'float', 'double', 'date', 'timestamp', 'timestamp_ntz'] -%}
    {%- for schema in schemas -%}
        {%- set value = schema.columns | selectattr('col_name', 'equalto', 'value') | map(attribute='data_type') | first | default('') -%}
        {%- set fields, columns = spark_cdc._typed_fields(value) if value.startswith('struct<') else schema.columns, [] -%}
        {%- for field in fields if field.col_name in images and field.data_type.startswith('struct<') -%}
            {%- do columns.extend(spark_cdc._typed_fields(field.data_type)) -%}
        {%- endfor -%}
        {%- for column in (columns if images else fields) -%}
            {%- set is_plain = spark_cdc._hash_type(column.data_type).get('kind') in kinds and not column.data_type.startswith('time(') -%}
            {%- set is_other = types.get(column.col_name, column.data_type) != column.data_type -%}
            {%- do types.update({column.col_name: column.data_type if is_plain and not is_other else 'string'}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(types) }}
{%- endmacro -%}
