{%- macro _files_view(entity) -%}{{ return('landed_' ~ entity.name ~ '_files') }}{%- endmacro -%}


{#- A temporary view on the files: for CSV and typed formats with the columns that Spark finds, for JSON with the
    lines as text. -#}
{%- macro _files_view_sql(entity, time) -%}
    {%- set format = entity.source.format -%}
create or replace temporary view {{ spark_cdc._files_view(entity) }}
{%- if format == 'csv' and not spark_cdc._has_header(entity) %} (
    {{ spark_cdc._string_columns(entity.columns | map(attribute='from')) | indent(4) }}
)
{%- endif %}
using {{ 'text' if format == 'json' else format }}
options (
    {{ spark_cdc._reader_options(entity, time) | join(',\n    ') }}
)
{%- endmacro -%}


{#- The rows of a table that belong to a business date. -#}
{%- macro _table_view_sql(entity, landing, time) -%}
create or replace temporary view {{ spark_cdc._files_view(entity) }} as
select *
from {{ landing }}
where {{ spark_cdc._quote(entity.source.date_column) }} = {{ spark_cdc._time_literal(entity, time) }}
{%- endmacro -%}
