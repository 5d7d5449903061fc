{#- The column `operation` holds no other codes than those given. Arguments: operations (list of
    codes). -#}
{%- test accepted_operations(model, operations) -%}
select operation, count(*) as row_count
from {{ model }}
where operation is null or operation not in ('{{ operations | join("', '") }}')
group by operation
{%- endtest -%}
