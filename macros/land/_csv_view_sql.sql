{#- A view on CSV files with the columns of their header, as text, and landing_problem: the text of a row that has other fields. -#}
{%- macro _csv_view_sql(entity, time, found, view) -%}
{%- set options = {'enforceSchema': 'false', 'mode': 'PERMISSIVE', 'columnNameOfCorruptRecord': 'landing_problem'} -%}
{%- if spark_cdc._csv_is_multi_line(entity) -%}
    {#- else a quote that is not closed ends at the next one, lines further on -#}
    {%- set handling = spark_cdc._reader_option(entity, ['unescapedquotehandling'], 'RAISE_ERROR') -%}
    {%- do options.update({'unescapedQuoteHandling': handling}) -%}
{%- endif -%}
create or replace temporary view {{ view }} (
    {% for column in found -%}
    {{ spark_cdc._quote(column.col_name) }} string,
    {% endfor -%}
    landing_problem string
)
using csv
options (
    {{ spark_cdc._reader_options(entity, time, options) | join(',\n    ') }}
)
{%- endmacro -%}
