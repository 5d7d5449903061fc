{#- The view that staging reads, without rows: where no file means that nothing came. -#}
{%- macro _no_rows_view_sql(entity) -%}
{%- set is_message = entity.events and entity.events.is_message -%}
create or replace temporary view {{ spark_cdc._landed_view(entity) }} as
select
    {% for column in entity.columns if not is_message or column.role == 'control' -%}
    cast(null as {{ 'string' if entity.source.text else column.data_type }}) as {{ spark_cdc._quote(column.from) }},
    {% endfor -%}
    {% if is_message -%}
    cast(null as string) as message,
    cast(null as string) as message_key
    {%- else -%}
    cast(null as string) as landing_problem
    {%- endif %}
    {%- if entity.events and not is_message and entity.source.format == 'json' %},
    cast(null as array<string>) as landing_names
    {%- endif %}
where false
{%- endmacro -%}
