{#- The type that a column must have in typed files, where its values may be encoded. -#}
{%- macro _is_lossless_type(entity, column) -%}
    {{ return('string' if entity.source.text or column.encoding == 'base64' else 'bigint' if column.encoding else column.data_type) }}
{%- endmacro -%}


{#- Whether every value of one type is a value of the other. -#}
{%- macro _is_lossless(found, declared) -%}
    {%- set found, declared = spark_cdc._plain_type_shown(found), spark_cdc._plain_type_shown(declared) -%}
    {%- set integers = {'tinyint': 3, 'smallint': 5, 'int': 10, 'bigint': 19} -%}
    {%- set wider = {'tinyint': ['smallint', 'int', 'bigint', 'float', 'double'], 'smallint': ['int', 'bigint', 'float', 'double'],
                     'int': ['bigint', 'double'], 'bigint': [], 'float': ['double'], 'date': ['timestamp_ntz']} -%}
    {%- set to_decimal = modules.re.fullmatch('decimal[(]([0-9]+)(?:,([0-9]+))?[)]', declared) -%}
    {%- set from_decimal = modules.re.fullmatch('decimal[(]([0-9]+)(?:,([0-9]+))?[)]', found) -%}
    {%- if to_decimal and (from_decimal or found in integers) -%}
        {%- set scale = to_decimal.group(2) | default('0', true) | int -%}
        {%- set found_scale = from_decimal.group(2) | default('0', true) | int if from_decimal else 0 -%}
        {%- set found_digits = from_decimal.group(1) | int if from_decimal else integers[found] -%}
        {{ return(scale >= found_scale and to_decimal.group(1) | int - scale >= found_digits - found_scale) }}
    {%- endif -%}
    {%- set is_text = modules.re.fullmatch('(var)?char[(][0-9]+[)]', found) is not none -%}
    {{ return(found == declared or is_text and declared == 'string' or declared in wider.get(found, [])) }}
{%- endmacro -%}
