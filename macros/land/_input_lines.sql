{#- Text files read once more, line by line, by a reader that shares no code with the one that loads them: how many records there are, and which
    lines that one would take for something else. A query with one row {load_id, operation, row_count, note}, as _load_counts() takes it. The
    note is JSON: records (none where a line need not be a record), unclosed (lines with a quote that is not closed; with multiLine files that
    end within one), unescaped (lines with a quote in a quoted value that is not escaped),
    blank (rows that Spark skips), malformed (lines with bytes that are
    not UTF-8), of all examples, file by file. Of several dates, whose places are given (of
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
        sum(unescaped) as unescaped,
        collect_list(unescaped_example) as unescaped_examples,
        sum(blank) as blank,
        collect_list(blank_example) as blank_examples,
        sum(malformed) as malformed,
        collect_list(malformed_example) as malformed_examples
    )) as note
from (
    select
        path,
        sum(records){{ headers }} as records,
        {{ spark_cdc._unclosed_counts(entity) | indent(8) }},
        sum(unescaped) as unescaped,
        concat(max(path), ': ', min(if(unescaped > 0, odd_line, null))) as unescaped_example,
        sum(blank) as blank,
        if(sum(blank) > 0, max(path), null) as blank_example,
        sum(malformed) as malformed,
        concat(max(path), ': ', min(if(malformed > 0, odd_line, null))) as malformed_example
    from (
        {#- numbers alone are summed up by hash; texts beside them would have the lines sorted #}
        select
            path,
            {{ spark_cdc._odd_line(entity) }} as odd_line,
            count_if(is_record) as records,
            sum(if(is_record, quotes, 0)) as quotes,
            count_if(is_record and is_unescaped) as unescaped,
            count_if(is_blank) as blank,
            count_if(is_malformed) as malformed
        from (
            select
                value,
                path,
                {{ spark_cdc._record_condition(entity) }} as is_record,
                {{ spark_cdc._csv_open_quotes(entity) | indent(16) }} as quotes,
                {{ spark_cdc._csv_unescaped_quotes(entity) | indent(16) }} as is_unescaped,
                {{ spark_cdc._blank_condition(entity) }} as is_blank,
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


{#- Whether a line without a visible character is a row nevertheless, of blank fields, which Spark skips: where the separator is none, or there is one column. -#}
{%- macro _blank_condition(entity) -%}
{%- if entity.source.format != 'csv' or spark_cdc._csv_is_multi_line(entity) -%}{{ return('false') }}{%- endif -%}
{%- set separator = spark_cdc._reader_option(entity, ['sep', 'delimiter'], ',').replace('\\t', '\t') -%}
{%- set is_unseen = separator | list | select('gt', ' ') | list | length == 0 -%}
{%- set fields = 'contains(value, ' ~ spark_cdc._literal(separator) ~ ')' if is_unseen else "value <> ''" if entity.columns | length == 1 -%}
{{ fields ~ " and not value rlike '[^\\\\x00-\\\\x20]'" if fields else 'false' }}
{%- endmacro -%}


{#- A line that may be shown as an example, as text: the others are null. -#}
{%- macro _odd_line(entity) -%}
if(is_malformed or is_unescaped{{ ' or quotes = 1' if not spark_cdc._csv_is_multi_line(entity) }}, left(format_string('%s', value), 200), null)
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
