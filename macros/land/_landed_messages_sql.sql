{#- The view that staging of messages reads. They are text: lines of JSON files, or of a table or typed files the column `value` (beside `key`, as
    topics are stored), or, where there is none, whole rows as JSON; and the declared control columns that lie beside them.
    Arguments: entity, landed (where they lie, other than lines: a list of {relation, columns}, one per schema). -#}
{%- macro _landed_messages_sql(entity, landed=[]) -%}
create or replace temporary view {{ spark_cdc._landed_view(entity) }} as
{% if entity.source.format == 'json' -%}
select
    value as message,
    cast(null as string) as message_key
    {{- spark_cdc._landed_beside(entity, {}) }}
from {{ spark_cdc._files_view(entity) }}
where trim(value) <> ''
{%- else -%}
{%- for schema in landed -%}
{%- set types = {} -%}
{%- for column in schema.columns -%}{%- do types.update({column.col_name | lower: column.data_type}) -%}{%- endfor -%}
select
    {% if 'value' in types or spark_cdc._is_without_value(entity, types) -%}
    {{ spark_cdc._landed_message(entity, 'value', types) | indent(4) }} as message,
    {{ spark_cdc._landed_message(entity, 'key', types) | indent(4) }} as message_key
    {%- else -%}
    {{ spark_cdc._typed_message(entity, schema.columns) | indent(4) }} as message,
    cast(null as string) as message_key
    {%- endif %}
    {{- spark_cdc._landed_beside(entity, types) }}
from {{ schema.relation }}
{{- '\n\nunion all\n\n' if not loop.last }}
{%- endfor -%}
{%- endif -%}
{%- endmacro -%}


{#- Whether columns are those of a topic without the messages themselves: of tombstones alone. -#}
{%- macro _is_without_value(entity, types) -%}
    {%- set of_topic = ['topic', 'partition', 'offset'] -%}
    {%- set beside = ['key', 'headers', 'timestamp', 'timestamptype', 'batch', 'schema'] -%}
    {%- set control = entity.columns | selectattr('role', 'equalto', 'control') | map(attribute='from') | map('lower') | list -%}
    {{ return(types | select('in', of_topic) | list | length == 3 and not types | reject('in', of_topic + beside + control) | list) }}
{%- endmacro -%}


{#- The declared control columns that lie beside the messages, as text; null where they do not. -#}
{%- macro _landed_beside(entity, types) -%}
{%- for column in entity.columns | selectattr('role', 'equalto', 'control') %},
    {{ spark_cdc._landed_text(column.from, types) }} as {{ spark_cdc._quote(column.from) }}
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
{%- elif modules.re.match('struct|map|array', type) -%}
{{ spark_cdc._typed_json(column) }}
{%- elif type == 'timestamp' -%}
{{ spark_cdc._instant_text(column) }}
{%- else -%}
cast({{ column }} as string)
{%- endif -%}
{%- endmacro -%}
