{%- macro _tagged_sql(entity, load, compared) -%}
select
    {{ spark_cdc._payload(entity) | join(',\n    ') }},
    if(operation = 'N', eff_start_date, {{ spark_cdc._load_start(entity, load) }}) as eff_start_date,
    note,
    {{ spark_cdc._partition(load) }},
    operation
from {{ compared }}
{%- endmacro -%}
