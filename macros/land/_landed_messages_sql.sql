{#- The view that staging of messages reads. They are text: lines of JSON files, or of a table its column `value` (beside `key`, as
    topics are stored), or, where it has none, whole rows as JSON; and the declared control columns that lie beside them. -#}
{%- macro _landed_messages_sql(entity, found) -%}
{%- set types = {} -%}
{%- for column in found -%}{%- do types.update({column.col_name | lower: column.data_type | lower}) -%}{%- endfor -%}
create or replace temporary view {{ spark_cdc._landed_view(entity) }} as
select
    {% if entity.source.format == 'json' -%}
    value as message,
    cast(null as string) as message_key
    {%- elif 'value' in types -%}
    {{ spark_cdc._landed_text('value', types) }} as message,
    {{ spark_cdc._landed_text('key', types) }} as message_key
    {%- else -%}
    to_json(struct(*), map('timestampFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSSXXX', 'ignoreNullFields', 'false')) as message,
    cast(null as string) as message_key
    {%- endif %}
    {%- for column in entity.columns | selectattr('role', 'equalto', 'control') %},
    {{ spark_cdc._landed_text(column.from, types) }} as {{ spark_cdc._quote(column.from) }}
    {%- endfor %}
from {{ spark_cdc._files_view(entity) }}
{%- if entity.source.format == 'json' %}
where trim(value) <> ''
{%- endif %}
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
to_json({{ column }}, map('ignoreNullFields', 'false'))
{%- elif type == 'timestamp' -%}
{{ spark_cdc._instant_text(column) }}
{%- else -%}
cast({{ column }} as string)
{%- endif -%}
{%- endmacro -%}
