{#- What others see of a sensitive column, as an expression of its own type (docs/sensitive.md). Of a text no more than half is shown; what is no mail
    address has no domain. A year is that of the time in UTC, whatever the session's zone. Arguments: column (with mask and data_type), value (SQL). -#}
{%- macro _masked_sql(column, value) -%}
{%- if column.get('pseudonym') -%}
{{ spark_cdc._pseudonym(column, value) }}
{%- elif column.mask == 'last_4' -%}
if(length({{ value }}) >= 8, right({{ value }}, 4), null)
{%- elif column.mask == 'mail_domain' -%}
nullif(regexp_extract({{ value }}, '^[^@]+@([^@]+)$', 1), '')
{%- elif column.mask == 'year' and column.data_type == 'timestamp' -%}
timestamp_seconds(unix_date(trunc(date_from_unix_date(cast(floor(unix_seconds({{ value }}) / 86400) as int)), 'year')) * 86400L)
{%- elif column.mask == 'year' -%}
cast(trunc(cast({{ value }} as date), 'year') as {{ column.data_type }})
{%- else -%}
cast(null as {{ column.data_type }})
{%- endif -%}
{%- endmacro -%}


{#- The note of a row without what it quotes, as an expression: of a rejected row what kind it is and which columns and rules it is about. Arguments: condition (which
    rows are rejected), why. -#}
{%- macro _masked_note_sql(condition, why='its values lie apart, since the entity has sensitive columns') -%}
if(
    {{ condition }},
    to_json(named_struct(
        'kind', get_json_object(note, '$.kind'),
        'columns', from_json(get_json_object(note, '$.columns'), 'array<string>'),
        'rules', from_json(get_json_object(note, '$.rules'), 'array<string>'),
        'reasons', array('{{ why }}')
    )),
    note
)
{%- endmacro -%}


{#- The columns of rows as everybody may read them, as a list of expressions: sensitive ones masked, of a rejected row, in which a value may stand in the
    wrong place, none but the hashes. Arguments: entity, columns (dictionaries with name, none for one that is declared no more, at_sql and data_type),
    rejected (condition). -#}
{%- macro _masked_columns(entity, columns, rejected) -%}
    {%- set stored = dict(zip(entity.stored | map(attribute='name'), entity.stored)) -%}
    {%- set masked = [] -%}
    {%- for column in columns -%}
        {%- set declared = stored.get(column.name) -%}
        {%- if column.name is none -%}
            {%- do masked.append('cast(null as ' ~ column.data_type ~ ') as ' ~ column.at_sql) -%}
        {%- elif column.name == 'note' -%}
            {%- do masked.append(spark_cdc._masked_note_sql(rejected) ~ ' as note') -%}
        {%- elif declared is none -%}
            {%- do masked.append(column.at_sql) -%}
        {%- else -%}
            {%- set shown = spark_cdc._masked_sql(declared, column.at_sql) if declared.sensitive else column.at_sql -%}
            {%- do masked.append(('if(' ~ rejected ~ ', null, ' ~ shown ~ ')' if declared.mask != 'none' else shown) ~ ' as ' ~ column.at_sql) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(masked) }}
{%- endmacro -%}


{#- What staging makes of what came in, for people to look at: as everybody may see it (docs/sensitive.md). Arguments: entity, sql (of _stage_sql() or
    _stage_events_sql()). -#}
{%- macro _masked_stage_sql(entity, sql) -%}
{%- set columns = [] -%}
{%- for name in (['event_op', 'event_position', 'event_time'] if entity.events else []) -%}{%- do columns.append({'name': name, 'at_sql': name}) -%}{%- endfor -%}
{%- for column in entity.stored -%}{%- do columns.append(dict(column, at_sql=column.sql)) -%}{%- endfor -%}
{%- for name in ['key_hash'] + ([] if entity.events else ['nonkey_hash']) + ['note'] -%}{%- do columns.append({'name': name, 'at_sql': name}) -%}{%- endfor -%}
select
    {{ spark_cdc._masked_columns(entity, columns, 'note is not null') | join(',\n') | indent(4) }}
from (
    {{ sql | indent(4) }}
) as staged
{%- endmacro -%}
