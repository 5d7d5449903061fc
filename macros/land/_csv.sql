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


{#- Whether a field between quotes holds a quote that is not escaped, as where quotes are doubled and `escape` is another character: Spark takes the
    field as it stands there, with its quotes. With multiLine it does so only at the end of a field, else it stops. -#}
{%- macro _csv_unescaped_quotes(entity) -%}
{%- set of = spark_cdc._csv_quotes(entity) -%}
{%- if not of -%}{{ return('false') }}{%- endif -%}
{%- set open, inner = of.start ~ of.quote, '[^' ~ of.quote ~ ']*' -%}
{%- if spark_cdc._csv_is_multi_line(entity) -%}
{%- set doubled = '(' ~ of.quote ~ '{3}|' ~ open ~ inner ~ '[^' ~ of.quote ~ '](?<!' ~ of.separator ~ ')' ~ of.quote ~ '{2})' -%}
(contains(value, {{ of.literal }}) and {{ of.text }} rlike {{ spark_cdc._literal(doubled ~ of.end) }})
{%- else -%}
(contains(value, {{ of.literal }}) and {{ of.rest }} rlike {{ spark_cdc._literal(open ~ inner ~ of.quote) }})
{%- endif -%}
{%- endmacro -%}


{#- What the quotes of CSV are looked for by, none where there are none: quote, start and end (of a field), separator as regular expressions, literal
    (the quote), text (the line without pairs that stand for a quote in a value), rest (the same without the fields that
    are closed). -#}
{%- macro _csv_quotes(entity) -%}
    {%- set quote = spark_cdc._reader_option(entity, ['quote'], '"') -%}
    {%- if entity.source.format != 'csv' or not quote -%}{{ return(none) }}{%- endif -%}
    {%- set escape = spark_cdc._reader_option(entity, ['escape'], '\\') -%}
    {%- set is_trimmed = spark_cdc._reader_option(entity, ['ignoreleadingwhitespace'], false) | string | lower == 'true' -%}
    {%- set q = spark_cdc._pattern_of(quote) -%}
    {%- set separator = spark_cdc._pattern_of(spark_cdc._reader_option(entity, ['sep', 'delimiter'], ',')) -%}
    {%- set start = '(^|' ~ separator ~ ')' ~ ('\\s*' if is_trimmed else '') -%}
    {%- set end = '(?=\\s*(' ~ separator ~ '|\\z))' -%}
    {%- set pairs = [quote ~ quote] if escape == quote else [escape ~ escape, escape ~ quote] if escape else [] -%}
    {%- set text = namespace(sql='value') -%}
    {%- for pair in pairs -%}{%- set text.sql = 'replace(' ~ text.sql ~ ', ' ~ spark_cdc._literal(pair) ~ ", '')" -%}{%- endfor -%}
    {%- set closed = spark_cdc._literal(start ~ q ~ '[^' ~ q ~ ']*' ~ q ~ end) -%}
    {{ return({
        'quote': q, 'start': start, 'end': end, 'separator': separator, 'literal': spark_cdc._literal(quote), 'text': text.sql,
        'rest': 'regexp_replace(' ~ text.sql ~ ', ' ~ closed ~ ", '\\u00241')",
    }) }}
{%- endmacro -%}
