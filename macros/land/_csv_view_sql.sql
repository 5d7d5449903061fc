{#- A view on CSV files with the columns of their header, as text, and landing_problem: the text of a row that has other fields. -#}
{%- macro _csv_view_sql(entity, time, found, view) -%}
create or replace temporary view {{ view }} (
    {% for column in found -%}
    {{ spark_cdc._quote(column.col_name) }} string,
    {% endfor -%}
    landing_problem string
)
using csv
options (
    {{ spark_cdc._reader_options(entity, time, {
        'enforceSchema': 'false', 'mode': 'PERMISSIVE', 'columnNameOfCorruptRecord': 'landing_problem',
    }) | join(',\n    ') }}
)
{%- endmacro -%}
