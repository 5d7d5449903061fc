{#
    Generic test: returns every combination of values that occurs in more than one row.

    combination_of_columns: list of column names that together identify a row.
    quote_columns: whether the names need quoting (blanks, reserved words).
#}
{% test unique_combination_of_columns(model, combination_of_columns, quote_columns=false) %}
{%- set names = [] -%}
{%- for column in combination_of_columns -%}
    {%- do names.append(adapter.quote(column) if quote_columns else column) -%}
{%- endfor -%}
select
    {{ names | join(',\n    ') }},
    count(*) as occurrences
from {{ model }}
group by
    {{ names | join(',\n    ') }}
having count(*) > 1
{% endtest %}
