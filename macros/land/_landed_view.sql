{%- macro _landed_view(entity) -%}{{ return('landed_' ~ entity.name) }}{%- endmacro -%}


{#- The view that staging reads. CSV is read with the header's columns as text, so that a row with too few or too
    many fields is noticed and each further file's header is checked; JSON lines become columns; columns that may be
    missing are there as nulls. -#}
{%- macro _landed_view_sql(entity, time, found) -%}
    {%- set format = entity.source.format -%}
    {%- set found_folded = found | map(attribute='col_name') | map('lower') | list -%}
    {%- set missing = [] -%}
    {%- for column in entity.columns if column.from | lower not in found_folded -%}{%- do missing.append(column) -%}{%- endfor -%}
    {%- if format == 'csv' -%}
        {%- if missing -%}
            {%- do run_query(spark_cdc._csv_view_sql(entity, time, found, spark_cdc._files_view(entity))) -%}
        {%- else -%}
            {{ return(spark_cdc._csv_view_sql(entity, time, found, spark_cdc._landed_view(entity))) }}
        {%- endif -%}
    {%- endif -%}
    {%- if format == 'json' -%}
        {{ return(spark_cdc._json_view_sql(entity)) }}
    {%- endif -%}
    {%- set lines = ['*'] -%}
    {%- for column in missing -%}
        {%- do lines.append('cast(null as ' ~ ('string' if entity.source.text else column.data_type) ~ ') as '
            ~ spark_cdc._quote(column.from)) -%}
    {%- endfor -%}
    {%- if format != 'csv' -%}
        {%- do lines.append('cast(null as string) as landing_problem') -%}
    {%- endif -%}
    {{ return('create or replace temporary view ' ~ spark_cdc._landed_view(entity) ~ ' as\nselect\n    '
        ~ lines | join(',\n    ') ~ '\nfrom ' ~ spark_cdc._files_view(entity)) }}
{%- endmacro -%}


{%- macro _csv_view_sql(entity, time, found, view) -%}
create or replace temporary view {{ view }} (
    {{ spark_cdc._string_columns(found | map(attribute='col_name')) | indent(4) }},
    landing_problem string
)
using csv
options (
    {{ spark_cdc._reader_options(entity, time, {
        'enforceSchema': 'false', 'mode': 'PERMISSIVE', 'columnNameOfCorruptRecord': 'landing_problem',
    }) | join(',\n    ') }}
)
{%- endmacro -%}


{%- macro _json_view_sql(entity) -%}
    {%- set names = [] -%}
    {%- for column in entity.columns -%}{%- do names.append(spark_cdc._literal(column.from)) -%}{%- endfor -%}
create or replace temporary view {{ spark_cdc._landed_view(entity) }} as
select
    {% for column in entity.columns -%}
    fields[{{ spark_cdc._literal(column.from) }}] as {{ spark_cdc._quote(column.from) }},
    {% endfor -%}
    case
        when fields is null then concat('not a JSON object: ', left(value, 200), char(10), value)
        {%- if entity.source.on_unexpected_column == 'error' %}
        when size(array_except(map_keys(fields), array({{ names | join(', ') }}))) > 0
            then concat(
                'unexpected columns: ',
                array_join(array_except(map_keys(fields), array({{ names | join(', ') }})), ', '), char(10), value
            )
        {%- endif %}
    end as landing_problem
    {%- if entity.events %},
    map_keys(fields) as landing_names
    {%- endif %}
from (
    select value, from_json({{ spark_cdc._json_document(entity, 'value') }}, 'map<string, string>') as fields
    from {{ spark_cdc._files_view(entity) }}
    where trim(value) <> ''
)
{%- endmacro -%}


{#- Messages as text: lines of JSON files, or of a table its column `value` (beside `key`, as topics are stored), or,
    where it has none, whole rows as JSON; and the declared control columns that lie beside them. -#}
{%- macro _messages_view_sql(entity) -%}
    {%- set files = spark_cdc._files_view(entity) -%}
    {%- set found = {} -%}
    {%- if entity.source.format != 'json' -%}
        {%- for column in spark_cdc._query('describe ' ~ files) -%}
            {%- do found.update({column.col_name | lower: column.data_type | lower}) -%}
        {%- endfor -%}
    {%- endif -%}
create or replace temporary view {{ spark_cdc._landed_view(entity) }} as
select
    {% if entity.source.format == 'json' -%}
    value as message,
    cast(null as string) as message_key
    {%- elif 'value' in found -%}
    {{ spark_cdc._as_text('value', found.value) }} as message,
    {{ spark_cdc._as_text('key', found.key) if 'key' in found else 'cast(null as string)' }} as message_key
    {%- else -%}
    to_json(struct(*), map('timestampFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSSXXX', 'ignoreNullFields', 'false')) as message,
    cast(null as string) as message_key
    {%- endif %}
    {%- for column in spark_cdc._landed_columns(entity) %},
    {{ spark_cdc._as_text(column.from, found[column.from | lower]) if column.from | lower in found else 'cast(null as string)' }} as {{ spark_cdc._quote(column.from) }}
    {%- endfor %}
from {{ files }}
{%- if entity.source.format == 'json' %}
where trim(value) <> ''
{%- endif %}
{%- endmacro -%}


{%- macro _as_text(name, data_type) -%}
    {%- set column = spark_cdc._quote(name) -%}
    {%- if data_type == 'binary' -%}
        {{ return("decode(" ~ column ~ ", 'UTF-8')") }}
    {%- elif data_type.startswith('struct') or data_type.startswith('map') or data_type.startswith('array') -%}
        {{ return('to_json(' ~ column ~ ", map('ignoreNullFields', 'false'))") }}
    {%- elif data_type == 'timestamp' -%}
        {{ return(spark_cdc._event_text({'source': {'text': false}}, {'data_type': 'timestamp', 'sql': column})) }}
    {%- endif -%}
    {{ return('cast(' ~ column ~ ' as string)') }}
{%- endmacro -%}
