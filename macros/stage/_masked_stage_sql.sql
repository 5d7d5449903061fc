{#- What staging makes of what came in, for people to look at: as everybody may see it (docs/sensitive.md). Arguments: entity, sql (of _stage_sql() or
    _stage_events_sql()). -#}
{%- macro _masked_stage_sql(entity, sql) -%}
{%- set columns = [] -%}
{%- for name in (['event_op', 'event_position', 'event_time'] if entity.events else []) -%}{%- do columns.append({'name': name, 'at_sql': name}) -%}{%- endfor -%}
{%- for column in entity.stored -%}{%- do columns.append(dict(column, at_sql=column.sql)) -%}{%- endfor -%}
{%- for name in ['key_hash'] + ([] if entity.events else ['nonkey_hash']) + ['note'] -%}{%- do columns.append({'name': name, 'at_sql': name}) -%}{%- endfor -%}
select
    {{ spark_cdc._masked_columns(entity, columns, 'note is not null') | join(',\n    ') | indent(4) }}
from (
{{ sql }}
) as staged
{%- endmacro -%}
