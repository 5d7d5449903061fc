{#- Columns that give an order, as numbers that sort as the columns do: bigint expressions, most significant first.
    A whole number or a time is one of them; a decimal with more than 18 digits before the point is two (three from 37
    digits on), and digits behind the point are one more. Truncated quotient and remainder sort as the number does, also
    below zero. Nulls stay null, and no session's time zone plays a part.
    Arguments: columns (dictionaries with name, data_type, sql). Returns a list of texts. -#}
{%- macro _order_parts(columns) -%}
    {%- set parts = [] -%}
    {%- for column in columns -%}
        {%- if column.data_type.startswith('decimal') -%}
            {%- do parts.extend(spark_cdc._order_decimal_parts(column.data_type, column.sql)) -%}
        {%- else -%}
            {%- do parts.append(spark_cdc._order_part(column.data_type, column.sql)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(parts) }}
{%- endmacro -%}


{%- macro _order_part(type, sql) -%}
{%- if type == 'date' -%}
cast(unix_date({{ sql }}) as bigint)
{%- elif type == 'timestamp' -%}
unix_micros({{ sql }})
{%- elif type == 'timestamp_ntz' -%}
cast(cast(cast({{ sql }} - timestamp_ntz'1970-01-01 00:00:00' as interval second) as decimal(18, 6)) * 1000000 as bigint)
{%- elif type == 'bigint' -%}
{{ sql }}
{%- else -%}
cast({{ sql }} as bigint)
{%- endif -%}
{%- endmacro -%}


{%- macro _order_decimal_parts(type, sql) -%}
    {%- set digits, scale = spark_cdc._decimal_digits(type) -%}
    {%- if digits <= 18 and scale == 0 -%}
        {{ return(['cast(' ~ sql ~ ' as bigint)']) }}
    {%- endif -%}
    {%- set parts = [] -%}
    {%- set highest = [digits - 1, 0] | max // 18 -%}
    {%- for place in range(highest, -1, -1) -%}  {#- 18 digits at a time -#}
        {%- set rest = sql if place == highest else '(' ~ sql ~ ' % 1' ~ '0' * 18 * (place + 1) ~ ')' -%}
        {%- do parts.append(rest ~ ' div 1' ~ '0' * 18 * place) -%}
    {%- endfor -%}
    {%- if scale -%}
        {%- do parts.append('cast(cast(' ~ sql ~ ' % 1 as decimal(' ~ scale ~ ', ' ~ scale ~ ')) * 1' ~ '0' * scale ~ ' as bigint)') -%}
    {%- endif -%}
    {{ return(parts) }}
{%- endmacro -%}
