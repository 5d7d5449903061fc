{#- A type in the one way of writing it that Spark's catalogue has. -#}
{%- macro _plain_type(type) -%}
    {%- set names = {'long': 'bigint', 'short': 'smallint', 'byte': 'tinyint', 'real': 'float', 'timestamp_ltz': 'timestamp'} -%}
    {%- set text = modules.re.sub('\\s*([<>(),:])\\s*', '\\1', type | string | trim | lower) -%}
    {%- set decimal = modules.re.fullmatch('(?:decimal|dec|numeric)(?:[(]([0-9]+)(?:,([0-9]+))?[)])?', text) -%}
    {%- if decimal -%}
        {{ return('decimal(' ~ (decimal.group(1) or 10) ~ ',' ~ (decimal.group(2) or 0) ~ ')') }}
    {%- endif -%}
    {{ return(names.get(text, text) | replace('integer', 'int')) }}
{%- endmacro -%}


{#- A type to compare with what `describe` says, which leaves out the backticks of fields. -#}
{%- macro _plain_type_shown(type) -%}
    {{ return(spark_cdc._plain_type((type | string).replace('``', '\x00').replace('`', '').replace('\x00', '`'))) }}
{%- endmacro -%}
