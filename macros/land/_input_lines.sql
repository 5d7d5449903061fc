{#- Text files read once more, line by line, by a reader that shares no code with the one that loads them: how many records there are, and which
    lines that one would take for something else. A query with one row {load_id, operation, row_count, note}, as _load_counts() takes it. The
    note is JSON: records (none where a line need not be a record), unclosed (lines with a quote that is not closed; with multiLine files that
    end within one), malformed (lines with bytes that are not UTF-8), of both examples, file by file. Of several dates, whose places are given (of
    _dates_places_sql(); the path of the entity is then that of all), a row {position, note} of each. -#}
{%- macro _input_lines_sql(entity, time, places=none) -%}
{%- set is_csv = entity.source.format == 'csv' -%}
{%- set headers = " - if(sum(records) > 0, 1, 0)" if is_csv and spark_cdc._csv_has_header(entity) -%}
select
    {%- if places %}
    position,
    {%- else %}
    cast(null as string) as load_id,
    'lines' as operation,
    0 as row_count,
    {%- endif %}
    to_json(struct(
        {{ 'null' if spark_cdc._csv_is_multi_line(entity) else 'coalesce(sum(records), 0)' }} as records,
        sum(unclosed) as unclosed,
        collect_list(unclosed_example) as unclosed_examples,
        sum(malformed) as malformed,
        collect_list(malformed_example) as malformed_examples
    )) as note
from (
    select
        path,
        sum(records){{ headers }} as records,
        {{ spark_cdc._unclosed_counts(entity) | indent(8) }},
        sum(malformed) as malformed,
        concat(max(path), ': ', min(if(malformed > 0, odd_line, null))) as malformed_example
    from (
        {#- numbers alone are summed up by hash; texts beside them would have the lines sorted #}
        select
            path,
            {{ spark_cdc._odd_line(entity) }} as odd_line,
            count_if(is_record) as records,
            sum(if(is_record, quotes, 0)) as quotes,
            count_if(is_malformed) as malformed
        from (
            select
                value,
                path,
                {{ spark_cdc._record_condition(entity) }} as is_record,
                {{ spark_cdc._unclosed_quotes(entity) | indent(16) }} as quotes,
                {{ "format_string('%s', value) <> value" if is_csv and spark_cdc._csv_encoding(entity) == 'utf-8' else 'false' }} as is_malformed
            from (
                select value, _metadata.file_path as path
                from {{ spark_cdc._direct_sql(entity, time, 'text', ['linesep']) }}
            )
        )
        group by path, odd_line
    )
    group by path
){% if places %} as of_file
left join (
    select *
    from {{ places | indent(8) }}
) as places
    on contains(concat(of_file.path, '/'), places.place)
group by position
{%- endif %}
{%- endmacro -%}


{#- Whether the reader takes a line for a record (or a header): as Spark's do. -#}
{%- macro _record_condition(entity) -%}
{%- set comment = spark_cdc._reader_option(entity, ['comment'], '') -%}
{%- if entity.source.format == 'json' -%}
trim(value) <> ''
{%- else -%}
value rlike '[^\\x00-\\x20]'{{ ' and not startswith(value, ' ~ spark_cdc._literal(comment) ~ ')' if comment }}
{%- endif -%}
{%- endmacro -%}


{#- By line: 1 where a field begins with a quote that the line does not close. With multiLine: how many quotes begin or end a field.
    A pair that stands for a quote in a value is taken out first, then what is closed. -#}
{%- macro _unclosed_quotes(entity) -%}
{%- set quote = spark_cdc._reader_option(entity, ['quote'], '"') -%}
{%- if entity.source.format != 'csv' or not quote -%}{{ return('0') }}{%- endif -%}
{%- set escape = spark_cdc._reader_option(entity, ['escape'], '\\') -%}
{%- set is_trimmed = spark_cdc._reader_option(entity, ['ignoreleadingwhitespace'], false) | string | lower == 'true' -%}
{%- set q = spark_cdc._pattern_of(quote) -%}
{%- set separator = spark_cdc._pattern_of(spark_cdc._reader_option(entity, ['sep', 'delimiter'], ',')) -%}
{%- set start = '(^|' ~ separator ~ ')' ~ ('\\s*' if is_trimmed else '') -%}
{%- set end = '(?=\\s*(' ~ separator ~ '|\\z))' -%}
{%- set pairs = [quote ~ quote] if escape == quote else [escape ~ escape, escape ~ quote] if escape else [] -%}
{%- set text = namespace(sql='value') -%}
{%- for pair in pairs -%}{%- set text.sql = 'replace(' ~ text.sql ~ ', ' ~ spark_cdc._literal(pair) ~ ", '')" -%}{%- endfor -%}
{%- if spark_cdc._csv_is_multi_line(entity) -%}
regexp_count({{ text.sql }}, {{ spark_cdc._literal(start ~ q ~ '|' ~ q ~ end) }})
{%- else -%}
{%- set unclosed = spark_cdc._literal(start ~ q ~ '[^' ~ q ~ ']*\\z') -%}
if(
    contains(value, {{ spark_cdc._literal(quote) }})
    and {{ text.sql }} rlike {{ unclosed }}
    and regexp_replace({{ text.sql }}, {{ spark_cdc._literal(start ~ q ~ '[^' ~ q ~ ']*' ~ q ~ end) }}, '\\u00241') rlike {{ unclosed }},
    1, 0
)
{%- endif -%}
{%- endmacro -%}


{#- A line that may be shown as an example, as text: the others are null. -#}
{%- macro _odd_line(entity) -%}
if(is_malformed{{ ' or quotes = 1' if not spark_cdc._csv_is_multi_line(entity) }}, left(format_string('%s', value), 200), null)
{%- endmacro -%}


{%- macro _unclosed_counts(entity) -%}
{%- if spark_cdc._csv_is_multi_line(entity) -%}
sum(quotes) % 2 as unclosed,
if(sum(quotes) % 2 = 1, max(path), null) as unclosed_example
{%- else -%}
sum(quotes) as unclosed,
concat(max(path), ': ', min(if(quotes > 0, odd_line, null))) as unclosed_example
{%- endif -%}
{%- endmacro -%}


{#- A text as a regular expression that means just it: each character by its number. -#}
{%- macro _pattern_of(text) -%}
    {%- set characters = [] -%}
    {%- for character in text.replace('\\t', '\t') -%}{%- do characters.append('\\x{' ~ character.encode('utf-32-be').hex() ~ '}') -%}{%- endfor -%}
    {{ return(characters | join) }}
{%- endmacro -%}
