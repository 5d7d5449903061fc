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
