{#- What is wrong with columns that are to give an order. Returns a list of texts. -#}
{%- macro _order_type_problems(label, columns) -%}
    {%- set problems = [] -%}
    {%- set accepted = ['tinyint', 'smallint', 'int', 'integer', 'bigint', 'date', 'timestamp', 'timestamp_ntz'] -%}
    {%- set message = "%s names the column '%s', which is %s; accepted are whole numbers, decimals with up to 18 digits behind the point, date, "
                      'timestamp and timestamp_ntz, since text does not sort as numbers do: declare the column with the type of what it holds' -%}
    {%- for column in columns | rejectattr('data_type', 'in', accepted)
            if not column.data_type.startswith('decimal') or spark_cdc._decimal_digits(column.data_type)[1] > 18 -%}
        {%- do problems.append(message % (label, column.name, column.data_type)) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
