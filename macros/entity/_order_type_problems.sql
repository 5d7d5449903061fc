{#- How many digits a decimal has before the point, and how many behind it. -#}
{%- macro _decimal_digits(type) -%}
    {%- set found = modules.re.fullmatch('decimal *(?:[(] *([0-9]+) *(?:, *([0-9]+) *)?[)])?', type) -%}
    {%- set precision = (found.group(1) or 10) | int -%}
    {%- set scale = (found.group(2) or 0) | int -%}
    {{ return([precision - scale, scale]) }}
{%- endmacro -%}


{#- What is wrong with columns that are to give an order. Returns a list of texts. -#}
{%- macro _order_type_problems(label, columns) -%}
    {%- set problems = [] -%}
    {%- set accepted = ['tinyint', 'smallint', 'int', 'integer', 'bigint', 'date', 'timestamp', 'timestamp_ntz'] -%}
    {%- for column in columns -%}
        {%- set is_decimal = column.data_type.startswith('decimal') -%}
        {%- if column.data_type not in accepted and not is_decimal or is_decimal and spark_cdc._decimal_digits(column.data_type)[1] > 18 -%}
            {%- do problems.append(label ~ " names the column '" ~ column.name ~ "', which is " ~ column.data_type ~ '; accepted are '
                ~ 'whole numbers, decimals with up to 18 digits behind the point, date, timestamp and timestamp_ntz, since text '
                ~ 'does not sort as numbers do: declare the column with the type of what it holds') -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
