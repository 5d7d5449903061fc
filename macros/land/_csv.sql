{%- macro _csv_has_header(entity) -%}{{ return(spark_cdc._reader_option(entity, ['header'], true) | string | lower == 'true') }}{%- endmacro -%}


{%- macro _csv_is_multi_line(entity) -%}
    {{ return(entity.source.format == 'csv' and spark_cdc._reader_option(entity, ['multiline'], false) | string | lower == 'true') }}
{%- endmacro -%}


{#- The declared encoding of CSV, in lower case. -#}
{%- macro _csv_encoding(entity) -%}
    {%- set name = spark_cdc._reader_option(entity, ['encoding', 'charset'], 'utf-8') | lower -%}
    {{ return('utf-8' if name == 'utf8' else name) }}
{%- endmacro -%}


{#- Whether a view on the files themselves has the declared columns. -#}
{%- macro _csv_is_as_declared(entity, found) -%}
    {{ return(not spark_cdc._missing_columns(entity, found) and '\r\n' not in found | map(attribute='col_name') | join) }}
{%- endmacro -%}


{#- By line: 1 where a field begins with a quote that the line does not close. With multiLine: how many quotes begin or end a field. -#}
{%- macro _csv_open_quotes(entity) -%}
{%- set of = spark_cdc._csv_quotes(entity) -%}
{%- if not of -%}{{ return('0') }}{%- endif -%}
{%- if spark_cdc._csv_is_multi_line(entity) -%}
if(contains(value, {{ of.literal }}), regexp_count({{ of.text }}, {{ spark_cdc._literal(of.start ~ of.quote ~ '|' ~ of.quote ~ of.end) }}), 0)
{%- else -%}
{%- set unclosed = spark_cdc._literal(of.start ~ of.quote ~ '[^' ~ of.quote ~ ']*\\z') -%}
if(
    contains(value, {{ of.literal }})
    and {{ of.text }} rlike {{ unclosed }}
    and {{ of.rest }} rlike {{ unclosed }},
    1, 0
)
{%- endif -%}
{%- endmacro -%}


{#- Whether a line has a field between quotes that holds a doubled one, which stands for a quote only where `escape` is the quote: Spark would keep both,
    and perhaps those around the field. With multiLine a field may begin on a line before. -#}
{%- macro _csv_doubled_quotes(entity) -%}
{%- set of = spark_cdc._csv_quotes(entity) -%}
{%- if not of or of.is_doubled -%}{{ return('false') }}{%- endif -%}
{%- set doubled = of.start ~ of.quote ~ '[^' ~ of.quote ~ ']*' ~ of.quote * 2 -%}
{%- set doubled = doubled ~ ('|' ~ of.quote * 3 ~ of.end if spark_cdc._csv_is_multi_line(entity) else '') -%}
(contains(value, concat({{ of.literal }}, {{ of.literal }})) and {{ of.rest }} rlike {{ spark_cdc._literal(doubled) }})
{%- endmacro -%}


{#- What the quotes of CSV are looked for by, none where there are none: quote, start and end (of a field) as regular expressions, literal (the quote),
    is_doubled (whether a doubled quote stands for one), text (the line without pairs that stand for a quote in a value), rest (the same without the fields that
    are closed). -#}
{%- macro _csv_quotes(entity) -%}
    {%- set quote = spark_cdc._reader_option(entity, ['quote'], '"') -%}
    {%- if entity.source.format != 'csv' or not quote -%}{{ return(none) }}{%- endif -%}
    {%- set escape = spark_cdc._reader_option(entity, ['escape'], '\\') -%}
    {%- set is_trimmed = spark_cdc._reader_option(entity, ['ignoreleadingwhitespace'], false) | string | lower == 'true' -%}
    {%- set q = spark_cdc._csv_pattern_of(quote) -%}
    {%- set separator = spark_cdc._csv_pattern_of(spark_cdc._reader_option(entity, ['sep', 'delimiter'], ',')) -%}
    {%- set start = '(^|' ~ separator ~ ')' ~ ('\\s*' if is_trimmed else '') -%}
    {%- set end = '(?=\\s*(' ~ separator ~ '|\\z))' -%}
    {%- set pairs = [quote ~ quote] if escape == quote else [escape ~ escape, escape ~ quote] if escape else [] -%}
    {%- set text = namespace(sql='value') -%}
    {%- for pair in pairs -%}{%- set text.sql = 'replace(' ~ text.sql ~ ', ' ~ spark_cdc._literal(pair) ~ ", '')" -%}{%- endfor -%}
    {%- set closed = spark_cdc._literal(start ~ q ~ '[^' ~ q ~ ']*' ~ q ~ end) -%}
    {{ return({
        'quote': q, 'start': start, 'end': end, 'literal': spark_cdc._literal(quote), 'is_doubled': escape == quote, 'text': text.sql,
        'rest': 'regexp_replace(' ~ text.sql ~ ', ' ~ closed ~ ", '\\u00241')",
    }) }}
{%- endmacro -%}


{#- A text as a regular expression that means just it: each character by its number. -#}
{%- macro _csv_pattern_of(text) -%}
    {%- set characters = [] -%}
    {%- for character in text.replace('\\t', '\t') -%}{%- do characters.append('\\x{' ~ character.encode('utf-32-be').hex() ~ '}') -%}{%- endfor -%}
    {{ return(characters | join) }}
{%- endmacro -%}
