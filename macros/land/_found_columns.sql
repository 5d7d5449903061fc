{#- The columns of files or a table, without the date column: rows {col_name, data_type}. Of JSON the
    names in its first lines; further on, an unexpected one is a problem of its row. -#}
{%- macro _found_columns(entity) -%}
{%- set sql -%}
{%- if entity.source.format != 'json' -%}
describe {{ spark_cdc._files_view(entity) }}
{%- else -%}
select distinct explode(map_keys(from_json(value, 'map<string, string>', map({{ spark_cdc._json_limits() }})))) as col_name, 'string' as data_type {# -#}
from (select value from {{ spark_cdc._files_view(entity) }} limit 1000)
{%- endif -%}
{%- endset -%}
    {%- set date_column = entity.source.date_column | default('', true) | lower -%}
    {%- set found = [] -%}
    {%- for column in spark_cdc._described(sql) if column.col_name and column.col_name | lower != date_column -%}{%- do found.append(column) -%}{%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
