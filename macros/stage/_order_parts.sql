{#- Columns that give an order, as numbers that sort as the columns do: bigint expressions, most significant first.
    A whole number or a time is one of them; a decimal with more than 18 digits before the point is two (three from 37
    digits on), and digits behind the point are one more. Truncated quotient and remainder sort as the number does, also
    below zero. Nulls stay null, and no session's time zone plays a part.
    Arguments: columns (dictionaries with name, data_type, sql). Returns a list of texts. -#}
{%- macro _order_parts(columns) -%}
    {%- set parts = [] -%}
    {%- for column in columns -%}
        {%- set type, sql = column.data_type, column.sql -%}
        {%- if type == 'date' -%}
            {%- do parts.append('cast(unix_date(' ~ sql ~ ') as bigint)') -%}
        {%- elif type == 'timestamp' -%}
            {%- do parts.append('unix_micros(' ~ sql ~ ')') -%}
        {%- elif type == 'timestamp_ntz' -%}
            {%- do parts.append('cast(cast(cast(' ~ sql ~ " - timestamp_ntz'1970-01-01 00:00:00' as interval second) as decimal(18, 6)) * 1000000 as bigint)") -%}
        {%- elif type.startswith('decimal') -%}
            {%- do parts.extend(spark_cdc._decimal_parts(type, sql)) -%}
        {%- else -%}
            {%- do parts.append(sql if type == 'bigint' else 'cast(' ~ sql ~ ' as bigint)') -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(parts) }}
{%- endmacro -%}


{%- macro _decimal_parts(type, sql) -%}
    {%- set digits, scale = spark_cdc._decimal_digits(type) -%}
    {%- set low = '1' ~ '0' * 18 -%}
    {%- set high = '1' ~ '0' * 36 -%}
    {%- if digits <= 18 and scale == 0 -%}
        {{ return(['cast(' ~ sql ~ ' as bigint)']) }}
    {%- elif digits <= 18 -%}
        {%- set parts = [sql ~ ' div 1'] -%}
    {%- elif digits <= 36 -%}
        {%- set parts = [sql ~ ' div ' ~ low, '(' ~ sql ~ ' % ' ~ low ~ ') div 1'] -%}
    {%- else -%}
        {%- set parts = [sql ~ ' div ' ~ high, '(' ~ sql ~ ' % ' ~ high ~ ') div ' ~ low, '(' ~ sql ~ ' % ' ~ low ~ ') div 1'] -%}
    {%- endif -%}
    {%- if scale -%}
        {%- do parts.append('cast(cast(' ~ sql ~ ' % 1 as decimal(' ~ scale ~ ', ' ~ scale ~ ')) * 1' ~ '0' * scale ~ ' as bigint)') -%}
    {%- endif -%}
    {{ return(parts) }}
{%- endmacro -%}
