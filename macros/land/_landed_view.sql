{%- macro _landed_view(entity) -%}{{ return('landed_' ~ entity.name) }}{%- endmacro -%}


{#- The view that staging reads. CSV is read with the header's columns as text, so that a row with too few or too
    many fields is noticed and each further file's header is checked; JSON lines become columns (of bytes that
    are no UTF-8 format_string() makes U+FFFD: so they are found); columns that may be missing are there as nulls. -#}
{%- macro _landed_view_sql(entity, time, found) -%}
{%- set format, view = entity.source.format, spark_cdc._landed_view(entity) -%}
{%- set missing, folders = spark_cdc._missing_columns(entity, found), [] -%}
{%- for column in found if found | selectattr('folder', 'defined') | list or found | selectattr('is_null', 'defined') | list -%}{%- do folders.append(spark_cdc._folder_columns_value(entity, column)) -%}{%- endfor -%}
{%- if format == 'csv' and spark_cdc._csv_is_as_declared(entity, found) -%}
{{ spark_cdc._csv_view_sql(entity, time, found, view) }}
{%- elif format == 'json' -%}
{%- set declared = entity.columns | map(attribute='from') | list -%}
{%- set unexpected -%}array_except(map_keys(fields), array({{ spark_cdc._literals(declared) }})){%- endset -%}
create or replace temporary view {{ view }} as
select
    {% for column in entity.columns -%}
    fields[{{ spark_cdc._literal(column.from) }}] as {{ spark_cdc._quote(column.from) }},
    {% endfor -%}
    case
        when fields is null then concat('not a JSON object: ', left(value, 200), char(10), value)
        when format_string('%s', value) <> value
            then concat('bytes that are not UTF-8: ', left(format_string('%s', value), 200), char(10), format_string('%s', value))
        when not endswith(trim(trailing ' \t\r' from value), '}') or {{ spark_cdc._is_misread('value') }}
            then concat({{ spark_cdc._misread_text('value') }}, ': ', left(value, 200), char(10), value)
        when has_repeated_names
            then concat('a name more than once in a JSON object: ', left(value, 200), char(10), value)
        {%- if entity.source.on_unexpected_column == 'error' %}
        when size({{ unexpected }}) > 0
            then concat(
                'unexpected columns: ',
                array_join({{ unexpected }}, ', '), char(10), value
            )
        {%- endif %}
    end as landing_problem
    {%- if entity.events %},
    map_keys(fields) as landing_names
    {%- endif %}
from (
    select
        value,
        {{ spark_cdc._json_named('object', 'names') }} as fields,
        {{ spark_cdc._json_has_repeated_names('object', 'names') }} as has_repeated_names
    from (
        select
            value,
            object,
            {{ spark_cdc._json_names('object', declared) | indent(12) }} as names
        from (
            select
                value,
                from_json({{ spark_cdc._json_document(entity, 'value') }}, 'map<string, string>', {# -#}
                    map('allowNonNumericNumbers', 'false', {{ spark_cdc._json_limits() }})) as object
            from {{ spark_cdc._files_view(entity) }}
            where trim(value) <> ''
        )
    )
)
{%- else -%}
create or replace temporary view {{ view }} as
select
    {{ '*' if not folders else folders | join(',\n    ') }}
    {%- for name in found | map(attribute='col_name') if '\r\n' in name %},
    {{ spark_cdc._quote(name) }} as {{ spark_cdc._quote(name.replace('\r\n', '\n')) }}
    {%- endfor %}
    {%- for column in missing %},
    cast(null as {{ 'string' if entity.source.text else column.data_type }}) as {{ spark_cdc._quote(column.from) }}
    {%- endfor %}
    {%- if format != 'csv' %},
    {{ spark_cdc._folder_columns_problem(entity, found) }} as landing_problem
    {%- endif %}
from {{ spark_cdc._files_view(entity) }}
{%- endif -%}
{%- endmacro -%}
