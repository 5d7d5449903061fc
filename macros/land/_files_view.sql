{%- macro _files_view(entity) -%}{{ return('landed_' ~ entity.name ~ '_files') }}{%- endmacro -%}


{#- A temporary view on what landed: the rows of a table that belong to the business date, or of its change feed, or the files: for CSV and typed formats
    with the columns that Spark finds, for JSON with the lines as text. Arguments: entity, landing (of a table), time, more (options of the reader), view
    (its name, if it is another one). -#}
{%- macro _files_view_sql(entity, landing, time, more={}, view=none) -%}
{%- set format = entity.source.format -%}
create or replace temporary view {{ view or spark_cdc._files_view(entity) }}
{%- if format == 'table' %} as
select *
from {{ landing }}
where {{ spark_cdc._date_column_condition(entity, [time]) }}
{%- elif format == 'change_feed' %} as
{{ spark_cdc._change_feed_sql(entity) }}
{%- else %}
{%- if format == 'csv' and not spark_cdc._csv_has_header(entity) %} (
    {% for column in entity.columns -%}
    {{ spark_cdc._quote(column.from) }} string{{ ',
    ' if not loop.last }}
    {%- endfor %}
)
{%- endif %}
using {{ 'text' if format == 'json' else format }}
options (
    {{ spark_cdc._reader_options(entity, time, more) | join(',\n    ') }}
)
{%- endif -%}
{%- endmacro -%}
