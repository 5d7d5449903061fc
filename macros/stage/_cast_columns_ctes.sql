{#- All columns, as they came in and cast to the declared types, as CTEs: `landed`, and one of the given name. Others that `landed` has may be carried
    on (names). -#}
{%- macro _cast_columns_ctes(entity, landed, name, carried=[]) -%}
with landed as (
    select
        {% for column in entity.columns -%}
        {{ spark_cdc._quote(column.from) }} as {{ spark_cdc._raw(column) }},
        {% endfor -%}
        {%- if entity.events and entity.source.format == 'json' -%}
        landing_names,
        {% endif -%}
        landing_problem
        {%- for column in carried %},
        {{ column }}
        {%- endfor %}
    from {{ landed }}
),

{{ name }} as (
    select
        *
        {%- for column in entity.columns %},
        {{ spark_cdc._cast(column, spark_cdc._raw(column), entity.source.text, entity.timezone) }} as {{ column.sql }}
        {%- endfor %}
    from landed
)
{%- endmacro -%}
