{#- The token that stands for the value of a column, the same wherever a column of its domain has the value, as 32 hexadecimal digits; null of null.
    Arguments: column (with pseudonym, data_type, secret), value (SQL). -#}
{%- macro _pseudonym(column, value) -%}
    {%- set token = spark_cdc._hash([dict(column, name='pseudonym:' ~ column.pseudonym, sql=value)]) -%}
if({{ value }} is null, null, {{ spark_cdc._hex(token) }})
{%- endmacro -%}
