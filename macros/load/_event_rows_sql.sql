{#- Staged events with the partition of their load. -#}
{%- macro _event_rows_sql(entity, load, incoming) -%}
select
    {% for column in spark_cdc._event_columns(entity) -%}
    {{ column.sql }},
    {% endfor -%}
    {{ spark_cdc._partition(load) | indent(4) }}
from {{ incoming }}
{%- endmacro -%}
