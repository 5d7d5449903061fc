{#- Makes a business date's data readable in this session as the temporary view landed_<entity>: the columns as
    the source names them, and `landing_problem`, which says what is wrong with a row as a whole. The names of the
    columns are compared with the declared ones first; what is missing or unexpected is an error, unless the
    entity says otherwise.
    Arguments: entity (dictionary of entity()), landing (the dbt source, read where format is table), time
    (datetime of the business date). Returns nothing. -#}
{%- macro land(entity, landing, time) -%}
    {%- set format = entity.source.format -%}
    {%- set input = spark_cdc._landing_input(entity, landing, time) -%}
    {%- do log(entity.name ~ ': reading ' ~ input ~ '; if that is not there, land it or correct source.path of stg_'
        ~ entity.name, info=true) -%}
    {%- if format == 'table' -%}
        {%- do run_query(spark_cdc._table_view_sql(entity, landing, time)) -%}
    {%- else -%}
        {%- do run_query(spark_cdc._files_view_sql(entity, time)) -%}
    {%- endif -%}

    {%- if entity.events and entity.events.is_message -%}
        {%- do run_query(spark_cdc._messages_view_sql(entity)) -%}
        {%- do spark_cdc._check_event_columns(entity, input) -%}
        {{ return('') }}
    {%- endif -%}
    {%- if format == 'json' -%}
        {%- set found = spark_cdc._json_columns(entity) -%}
    {%- else -%}
        {%- set found = spark_cdc._query('describe ' ~ spark_cdc._files_view(entity)) -%}
    {%- endif -%}
    {%- set found = found | rejectattr('col_name', 'equalto', entity.source.date_column)
            | rejectattr('col_name', 'equalto', '') | list -%}
    {%- do spark_cdc._check_columns(entity, input, found) -%}
    {%- do run_query(spark_cdc._landed_view_sql(entity, time, found)) -%}
    {%- if entity.events and format == 'json' -%}
        {%- do spark_cdc._check_event_columns(entity, input) -%}
    {%- endif -%}
{%- endmacro -%}


{#- What a load reads, in words: for messages and for cdc_loads. -#}
{%- macro _landing_input(entity, landing, time) -%}
    {%- if entity.source.format == 'table' -%}
        {{ return('table ' ~ landing ~ ' where ' ~ entity.source.date_column ~ ' is ' ~ spark_cdc._time_text(entity, time)) }}
    {%- endif -%}
    {{ return(entity.source.format ~ ' files of ' ~ spark_cdc._landing_path(entity, time)) }}
{%- endmacro -%}


{%- macro _landed_view(entity) -%}{{ return('landed_' ~ entity.name) }}{%- endmacro -%}

{%- macro _files_view(entity) -%}{{ return('landed_' ~ entity.name ~ '_files') }}{%- endmacro -%}


{#- The folder of a business date: {business_date} in the path becomes 2019-06-19 (2019-06-19T001500 where loads
    are finer than a day), {business_date:%Y/%m/%d} whatever strftime makes of it. -#}
{%- macro _landing_path(entity, time) -%}
    {%- set path = entity.source.path -%}
    {%- set default = '%Y-%m-%d' if entity.eff_type == 'date' else '%Y-%m-%dT%H%M%S' -%}
    {%- set parts = [] -%}
    {%- for part in modules.re.split('([{]business_date(?::[^{}]*)?[}])', path) -%}
        {%- if loop.index is odd -%}
            {%- do parts.append(part) -%}
        {%- else -%}
            {%- do parts.append(time.strftime(part[15:-1] or default)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(parts | join('')) }}
{%- endmacro -%}


{#- A temporary view on the files: for CSV and typed formats with the columns that Spark finds, for JSON with the
    lines as text. -#}
{%- macro _files_view_sql(entity, time) -%}
    {%- set format = entity.source.format -%}
create or replace temporary view {{ spark_cdc._files_view(entity) }}
{%- if format == 'csv' and not spark_cdc._has_header(entity) %} (
    {{ spark_cdc._string_columns(entity.columns | map(attribute='from')) | indent(4) }}
)
{%- endif %}
using {{ 'text' if format == 'json' else format }}
options (
    {{ spark_cdc._reader_options(entity, time) | join(',\n    ') }}
)
{%- endmacro -%}


{#- Reader options as SQL: what the entity says, and what the project needs. -#}
{%- macro _reader_options(entity, time, more={}) -%}
    {%- set options = {'path': spark_cdc._landing_path(entity, time)} -%}
    {%- if entity.source.format == 'csv' -%}
        {#- with a null text that is not empty, Spark tells "" (empty text) from nothing (null) -#}
        {%- for option, value in {'header': 'true', 'nullValue': '\\N'}.items()
                if option | lower not in entity.source.options | map('lower') | list -%}
            {%- do options.update({option: value}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for option, value in entity.source.options.items() -%}
        {%- do options.update({option: value | string | lower if value is boolean else value}) -%}
    {%- endfor -%}
    {%- do options.update(more) -%}
    {%- set lines = [] -%}
    {%- for option, value in options.items() -%}
        {%- do lines.append('`' ~ option ~ '` ' ~ spark_cdc._literal(value)) -%}
    {%- endfor -%}
    {{ return(lines) }}
{%- endmacro -%}


{%- macro _has_header(entity) -%}
    {%- for option, value in entity.source.options.items() if option | lower == 'header' -%}
        {{ return(value | string | lower == 'true') }}
    {%- endfor -%}
    {{ return(true) }}
{%- endmacro -%}


{%- macro _string_columns(names) -%}
    {%- set lines = [] -%}
    {%- for name in names -%}
        {%- do lines.append(spark_cdc._quote(name) ~ ' string') -%}
    {%- endfor -%}
    {{ return(lines | join(',\n')) }}
{%- endmacro -%}


{#- The rows of a table that belong to a business date. -#}
{%- macro _table_view_sql(entity, landing, time) -%}
create or replace temporary view {{ spark_cdc._files_view(entity) }} as
select *
from {{ landing }}
where {{ spark_cdc._quote(entity.source.date_column) }} = {{ spark_cdc._time_literal(entity, time) }}
{%- endmacro -%}


{#- The names in the first rows of JSON lines; further on, an unexpected one is a problem of its row. -#}
{%- macro _json_columns(entity) -%}
    {{ return(spark_cdc._query(
        "select distinct explode(map_keys(from_json(value, 'map<string, string>'))) as col_name, 'string' as data_type"
        ~ " from (select value from " ~ spark_cdc._files_view(entity) ~ " limit 1000)"
    )) }}
{%- endmacro -%}


{#- Compares the source's columns with the declared ones: names, and for typed formats whether each type turns into
    the declared one without a loss. -#}
{%- macro _check_columns(entity, input, found) -%}
    {%- set found_names = found | map(attribute='col_name') | list -%}
    {%- set found_folded = found_names | map('lower') | list -%}
    {%- set declared = entity.columns | map(attribute='from') | list -%}
    {%- set declared_folded = declared | map('lower') | list -%}
    {%- set missing = [] -%}
    {%- set unexpected = [] -%}
    {#- events in JSON need not have all columns: see _check_event_columns() -#}
    {%- set is_partial = entity.events and entity.source.format == 'json' -%}
    {%- for column in entity.columns if column.from | lower not in found_folded and not column.optional
            and not (is_partial and column.role != 'control') -%}
        {%- do missing.append(column.from) -%}
    {%- endfor -%}
    {%- for name in found_names if name | lower not in declared_folded -%}{%- do unexpected.append(name) -%}{%- endfor -%}
    {%- set problems = [] -%}
    {%- set refused = [] -%}
    {%- set empty_json = entity.source.format == 'json' and not found_names -%}
    {%- if missing and entity.source.on_missing_column == 'error' and not empty_json -%}
        {%- do problems.append('missing: ' ~ missing | join(', ')) -%}
        {%- do refused.append('missing_columns') -%}
    {%- endif -%}
    {%- if unexpected and entity.source.on_unexpected_column == 'error' -%}
        {%- do problems.append('unexpected: ' ~ unexpected | join(', ')) -%}
        {%- do refused.append('unexpected_columns') -%}
    {%- endif -%}
    {%- if problems -%}
        {%- do spark_cdc.refuse_load(
            entity, refused | join(', '),
            entity.name ~ ': the columns of ' ~ input ~ ' are not the declared ones.\n  ' ~ problems | join('\n  ')
            ~ '\n  found: ' ~ found_names | join(', ') ~ '\n  declared: ' ~ declared | join(', ')
            ~ '\nCorrect the data or the columns of stg_' ~ entity.name ~ '; `from` gives a name in the source, and '
            ~ 'source.on_missing_column: null or source.on_unexpected_column: ignore lift the check. '
            ~ ('To ignore unexpected ones this once: ' ~ spark_cdc._lift_command(
                entity, {'business_time': var('business_date', none)}, ['unexpected_columns']) ~ '. ' if 'unexpected_columns' in refused else '')
            ~ 'Nothing was written.'
        ) -%}
    {%- endif -%}
    {%- if entity.source.format not in ['csv', 'json'] -%}
        {%- do spark_cdc._check_types(entity, input, found) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Stops where no event brings a declared column: most often a name is misspelt. One event need not have all columns, and a
    load of updates and deletes alone need not have any, so it takes a whole row (an insert or a row of a snapshot) and
    not one event with the column. All events are looked at only if the first 1,000 lack a column. -#}
{%- macro _check_event_columns(entity, input) -%}
    {%- set columns = entity.stored | rejectattr('role', 'equalto', 'key') | list -%}
    {%- if entity.source.on_missing_column != 'error' or not columns -%}
        {{ return('') }}
    {%- endif -%}
    {%- set landed = spark_cdc._landed_view(entity) -%}
    {%- set missing = [] -%}
    {%- for relation in ['(select * from ' ~ landed ~ ' limit 1000)', landed] -%}
        {%- if loop.last and not missing -%}
            {{ return('') }}
        {%- endif -%}
        {%- do missing.clear() -%}
        {%- set found = spark_cdc._query(spark_cdc._event_columns_sql(entity, columns, relation))[0] -%}
        {%- for column in columns -%}
            {%- if found.whole_rows | int > 0 and found['with_' ~ loop.index] | int == 0 -%}
                {%- do missing.append(column.from) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- if missing and loop.last -%}
            {%- set others = fromjson(found.unexpected) -%}
            {%- do spark_cdc.refuse_load(
                entity, 'missing_columns',
                entity.name ~ ': no event of ' ~ input ~ ' has ' ~ missing | join(', ') ~ '.\n  declared: '
                ~ entity.stored | map(attribute='from') | join(', ') ~ '\n  not declared, but there: ' ~ (others | join(', ') or 'nothing')
                ~ '\nCorrect the data or the columns of stg_' ~ entity.name ~ '; `from` gives a name in the source, in the same case, and '
                ~ 'source.on_missing_column: null lifts the check. Nothing was written.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}


{%- macro _event_columns_sql(entity, columns, landed) -%}
select
    count_if(event_op in ('insert', 'read')) as whole_rows,
    {%- for column in columns %}
    count_if(
        event_op in ('insert', 'update', 'upsert', 'read') and not coalesce(array_contains(event_absent, {{ spark_cdc._literal(column.name) }}), false)
    ) as with_{{ loop.index }},
    {%- endfor %}
    to_json(array_sort(array_distinct(flatten(collect_set(event_unexpected))))) as unexpected
from (
    {{ spark_cdc.stage_events_sql(entity, landed) | indent(4) }}
) as events
{%- endmacro -%}


{%- macro _check_types(entity, input, found) -%}
    {%- set problems = [] -%}
    {%- for column in entity.columns -%}
        {%- for other in found if other.col_name | lower == column.from | lower -%}
            {%- set wanted = 'string' if entity.source.text else column.data_type -%}
            {%- if not spark_cdc._is_lossless(other.data_type | lower, wanted) -%}
                {%- do problems.append(other.col_name ~ ' is ' ~ other.data_type ~ ', declared ' ~ column.data_type) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if problems -%}
        {%- do spark_cdc.refuse_load(
            entity, 'column_types',
            entity.name ~ ': types in ' ~ input ~ ' do not turn into the declared ones without a loss.\n  '
            ~ problems | join('\n  ') ~ '\nDeclare the type found or a wider one in stg_' ~ entity.name
            ~ (', or leave out source.text, which takes text columns only.' if entity.source.text else
               ', or, where all columns hold text, set source.text: true.') ~ ' Nothing was written.'
        ) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Whether every value of one type is a value of the other. -#}
{%- macro _is_lossless(found, declared) -%}
    {%- set found = found | replace(' ', '') -%}
    {%- set declared = declared | replace(' ', '') | replace('integer', 'int') -%}
    {%- if found == declared or modules.re.fullmatch('(var)?char[(][0-9]+[)]', found) and declared == 'string' -%}
        {{ return(true) }}
    {%- endif -%}
    {%- set integers = {'tinyint': 3, 'smallint': 5, 'int': 10, 'bigint': 19} -%}
    {%- set wider = {'tinyint': ['smallint', 'int', 'bigint', 'float', 'double'], 'smallint': ['int', 'bigint', 'float', 'double'],
                     'int': ['bigint', 'double'], 'bigint': [], 'float': ['double'], 'date': ['timestamp_ntz']} -%}
    {%- if declared in wider.get(found, []) -%}
        {{ return(true) }}
    {%- endif -%}
    {%- set to_decimal = modules.re.fullmatch('decimal[(]([0-9]+)(?:,([0-9]+))?[)]', declared) -%}
    {%- set from_decimal = modules.re.fullmatch('decimal[(]([0-9]+)(?:,([0-9]+))?[)]', found) -%}
    {%- if to_decimal and (from_decimal or found in integers) -%}
        {%- set scale = to_decimal.group(2) | default('0', true) | int -%}
        {%- set found_scale = from_decimal.group(2) | default('0', true) | int if from_decimal else 0 -%}
        {%- set found_digits = from_decimal.group(1) | int if from_decimal else integers[found] -%}
        {{ return(scale >= found_scale and to_decimal.group(1) | int - scale >= found_digits - found_scale) }}
    {%- endif -%}
    {%- if modules.re.match('(array|struct|map)<', found) and modules.re.match('(array|struct|map)<', declared) -%}
        {{ return(found == declared) }}
    {%- endif -%}
    {{ return(false) }}
{%- endmacro -%}


{#- The view that staging reads. CSV is read with the header's columns as text, so that a row with too few or too
    many fields is noticed and each further file's header is checked; JSON lines become columns; columns that may be
    missing are there as nulls. -#}
{%- macro _landed_view_sql(entity, time, found) -%}
    {%- set format = entity.source.format -%}
    {%- set found_folded = found | map(attribute='col_name') | map('lower') | list -%}
    {%- set missing = [] -%}
    {%- for column in entity.columns if column.from | lower not in found_folded -%}{%- do missing.append(column) -%}{%- endfor -%}
    {%- if format == 'csv' -%}
        {%- if missing -%}
            {%- do run_query(spark_cdc._csv_view_sql(entity, time, found, spark_cdc._files_view(entity))) -%}
        {%- else -%}
            {{ return(spark_cdc._csv_view_sql(entity, time, found, spark_cdc._landed_view(entity))) }}
        {%- endif -%}
    {%- endif -%}
    {%- if format == 'json' -%}
        {{ return(spark_cdc._json_view_sql(entity)) }}
    {%- endif -%}
    {%- set lines = ['*'] -%}
    {%- for column in missing -%}
        {%- do lines.append('cast(null as ' ~ ('string' if entity.source.text else column.data_type) ~ ') as '
            ~ spark_cdc._quote(column.from)) -%}
    {%- endfor -%}
    {%- if format != 'csv' -%}
        {%- do lines.append('cast(null as string) as landing_problem') -%}
    {%- endif -%}
    {{ return('create or replace temporary view ' ~ spark_cdc._landed_view(entity) ~ ' as\nselect\n    '
        ~ lines | join(',\n    ') ~ '\nfrom ' ~ spark_cdc._files_view(entity)) }}
{%- endmacro -%}


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


{%- macro _json_view_sql(entity) -%}
    {%- set names = [] -%}
    {%- for column in entity.columns -%}{%- do names.append(spark_cdc._literal(column.from)) -%}{%- endfor -%}
create or replace temporary view {{ spark_cdc._landed_view(entity) }} as
select
    {% for column in entity.columns -%}
    fields[{{ spark_cdc._literal(column.from) }}] as {{ spark_cdc._quote(column.from) }},
    {% endfor -%}
    case
        when fields is null then concat('not a JSON object: ', left(value, 200), char(10), value)
        {%- if entity.source.on_unexpected_column == 'error' %}
        when size(array_except(map_keys(fields), array({{ names | join(', ') }}))) > 0
            then concat(
                'unexpected columns: ',
                array_join(array_except(map_keys(fields), array({{ names | join(', ') }})), ', '), char(10), value
            )
        {%- endif %}
    end as landing_problem
    {%- if entity.events %},
    map_keys(fields) as landing_names
    {%- endif %}
from (
    select value, from_json({{ spark_cdc._json_document(entity, 'value') }}, 'map<string, string>') as fields
    from {{ spark_cdc._files_view(entity) }}
    where trim(value) <> ''
)
{%- endmacro -%}


{#- Messages as text: lines of JSON files, or of a table its column `value` (beside `key`, as topics are stored), or,
    where it has none, whole rows as JSON; and the declared control columns that lie beside them. -#}
{%- macro _messages_view_sql(entity) -%}
    {%- set files = spark_cdc._files_view(entity) -%}
    {%- set found = {} -%}
    {%- if entity.source.format != 'json' -%}
        {%- for column in spark_cdc._query('describe ' ~ files) -%}
            {%- do found.update({column.col_name | lower: column.data_type | lower}) -%}
        {%- endfor -%}
    {%- endif -%}
create or replace temporary view {{ spark_cdc._landed_view(entity) }} as
select
    {% if entity.source.format == 'json' -%}
    value as message,
    cast(null as string) as message_key
    {%- elif 'value' in found -%}
    {{ spark_cdc._as_text('value', found.value) }} as message,
    {{ spark_cdc._as_text('key', found.key) if 'key' in found else 'cast(null as string)' }} as message_key
    {%- else -%}
    to_json(struct(*), map('timestampFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSSXXX', 'ignoreNullFields', 'false')) as message,
    cast(null as string) as message_key
    {%- endif %}
    {%- for column in spark_cdc._landed_columns(entity) %},
    {{ spark_cdc._as_text(column.from, found[column.from | lower]) if column.from | lower in found else 'cast(null as string)' }} as {{ spark_cdc._quote(column.from) }}
    {%- endfor %}
from {{ files }}
{%- if entity.source.format == 'json' %}
where trim(value) <> ''
{%- endif %}
{%- endmacro -%}


{%- macro _as_text(name, data_type) -%}
    {%- set column = spark_cdc._quote(name) -%}
    {%- if data_type == 'binary' -%}
        {{ return("decode(" ~ column ~ ", 'UTF-8')") }}
    {%- elif data_type.startswith('struct') or data_type.startswith('map') or data_type.startswith('array') -%}
        {{ return('to_json(' ~ column ~ ", map('ignoreNullFields', 'false'))") }}
    {%- elif data_type == 'timestamp' -%}
        {{ return(spark_cdc._event_text({'source': {'text': false}}, {'data_type': 'timestamp', 'sql': column})) }}
    {%- endif -%}
    {{ return('cast(' ~ column ~ ' as string)') }}
{%- endmacro -%}
