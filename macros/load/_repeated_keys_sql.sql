{#- Some keys that come more than once, for a message. Arguments: entity, rows (what follows `from`), also (a further condition of groups). -#}
{%- macro _repeated_keys_sql(entity, rows, also='') -%}
{%- set keys = entity.key_columns | map(attribute='sql') | join(', ') -%}
select
    {{ keys }},
    count(*) as row_count
from {{ rows }}
group by {{ keys }}
having count(*) > 1{{ ' ' ~ also if also }}
limit 5
{%- endmacro -%}
