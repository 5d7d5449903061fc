{#- What an event sent of a column: event_after is its new image, event_before the old one or the old key, as maps of text. -#}


{#- A column of a message's new image as text; for a key that the image lacks the old one. -#}
{%- macro _sent_image_value(column) -%}
{%- set name = spark_cdc._literal(column.from) -%}
{%- if column.role == 'key' -%}
if(map_contains_key(event_after, {{ name }}), event_after[{{ name }}], event_before[{{ name }}])
{%- else -%}
try_element_at(event_after, {{ name }})
{%- endif -%}
{%- endmacro -%}


{#- The old key of a row, as text, column by column; null where the event names none. Parts that the old image lacks have not
    changed: unchanged is the text of the new one. -#}
{%- macro _sent_old_key(entity, column, unchanged) -%}
{%- set name = spark_cdc._literal(column.from) -%}
if(event_op in ('update', 'upsert') and ({{ spark_cdc._sent_before(entity.key_columns) | join(' or ') }}), {# -#}
if(map_contains_key(event_before, {{ name }}), event_before[{{ name }}], {{ unchanged }}), null)
{%- endmacro -%}


{#- For each of some columns whether it is in the old image: a list of conditions. -#}
{%- macro _sent_before(columns) -%}
    {%- set conditions = [] -%}
    {%- for column in columns -%}
        {%- do conditions.append('map_contains_key(event_before, ' ~ spark_cdc._literal(column.from) ~ ')') -%}
    {%- endfor -%}
    {{ return(conditions) }}
{%- endmacro -%}


{#- A message's column in its type; null where it stands for an unchanged value. -#}
{%- macro _sent_value(entity, column) -%}
{%- set raw = spark_cdc._raw(column) -%}
{%- set value = spark_cdc._cast(column, raw, entity.source.text, entity.timezone) -%}
{%- set marks = spark_cdc._sent_marks(entity, column) -%}
{%- if column.role == 'key' or not marks -%}
{{ value }}
{%- else -%}
if({{ raw }} in ({{ marks | join(', ') }}), null, {{ value }})
{%- endif -%}
{%- endmacro -%}


{#- How the text for an unchanged value looks in a column, as Debezium writes it: its bytes as base64 or hexadecimal digits in binary,
    lists of it in arrays (of numbers its bytes, each as base64 where they are decimals; of uuid the one that Java names after it), a pair of it in a
    map. Returns a list of expressions. -#}
{%- macro _sent_marks(entity, column) -%}
    {%- if entity.events.unavailable is none -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set mark = entity.events.unavailable | string -%}
    {%- set digits = mark.encode('utf-8').hex() -%}
    {%- set letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/' -%}
    {%- set bytes, decimals = [], [] -%}
    {%- for byte in mark.encode('utf-8') -%}
        {%- do bytes.append(byte if byte < 128 else byte - 256) -%}
        {%- do decimals.append('"' ~ letters[byte // 4] ~ letters[byte % 4 * 16] ~ '=="') -%}
    {%- endfor -%}
    {%- set scaled = '{"scale":0,"value":' ~ decimals | join('},{"scale":0,"value":') ~ '}' -%}
    {%- set uuid -%}
regexp_replace(overlay(overlay(md5({{ spark_cdc._literal(mark) }}) placing '3' from 13) placing {# -#}
translate(substr(md5({{ spark_cdc._literal(mark) }}), 17, 1), '0123456789abcdef', '89ab89ab89ab89ab') from 17), {# -#}
'(.{8})(.{4})(.{4})(.{4})', '$1-$2-$3-$4-')
    {%- endset -%}
    {%- set base64 -%}base64(cast({{ spark_cdc._literal(mark) }} as binary)){%- endset -%}
    {%- set base64_list -%}concat('["', {{ base64 }}, '"]'){%- endset -%}
    {%- set text = [spark_cdc._literal(mark)] -%}
    {%- set binary = [base64, spark_cdc._literal(digits), spark_cdc._literal(digits | upper)] -%}
    {%- set list = [spark_cdc._literal('["' ~ mark ~ '"]'), base64_list, "concat('[\"', " ~ uuid ~ ", '\"]')"] -%}
    {%- for items in [bytes | join(','), bytes | join('.0,') ~ '.0', decimals | join(','), scaled] -%}
        {%- do list.append(spark_cdc._literal('[' ~ items ~ ']')) -%}
    {%- endfor -%}
    {%- set pair = [spark_cdc._literal('{"' ~ mark ~ '":"' ~ mark ~ '"}')] -%}
    {%- if column.data_type == 'string' -%}
        {{ return(text + binary + list + pair) }}
    {%- elif column.data_type == 'binary' -%}
        {{ return(text + binary) }}
    {%- elif column.data_type.startswith('array') -%}
        {{ return(text + list) }}
    {%- elif modules.re.match('(map|struct)', column.data_type) -%}
        {{ return(text + pair) }}
    {%- endif -%}
    {{ return(text + [base64]) }}
{%- endmacro -%}
