{#- Compares what a load that is written has read with the files as they lie there now, and with their lines. Raises an error where files came, went
    or changed meanwhile, and where Spark has read lines otherwise than they stand there.
    Arguments: run, record (of the load; of change events <entity>_events has compared the files), input (of _load_counts()). -#}
{%- macro _check_input(run, record, input) -%}
    {%- set known = {'record': record, 'files': input.get('files')} -%}
    {%- if known.files and record.get('files') -%}
        {%- do spark_cdc._check_unchanged(run.entity, run.load, record.files, known.files, known) -%}
    {%- endif -%}
    {%- set lines = input.get('lines') or {} -%}
    {%- set advice = {
        'unclosed_quotes': "a quote that is not closed, so that what follows it would be taken for the value. Correct the file; values that go "
            ~ "over several lines take source.options.multiLine: true; where quotes are doubled, set source.options.escape: '\"'; where they are "
            ~ "part of plain values, quote: ''",
        'unescaped_quotes': "a quote within a quoted value that is not escaped, so that Spark would keep the value with all its quotes. Where quotes "
            ~ "are doubled, as Excel, PostgreSQL and pandas write them, set source.options.escape: '\"'; where they are part of plain values, quote: ''; "
            ~ 'else correct the file',
        'blank_rows': 'blanks alone in all fields, so that Spark would skip it as an empty line. Set source.options.multiLine: true, with which it does not; or '
            ~ 'correct the file',
        'malformed_text': 'bytes that are not UTF-8, so that each would become U+FFFD. Correct the file, or name its encoding in '
            ~ 'source.options.encoding',
    } -%}
    {%- for guard, found, examples in [
        ('unclosed_quotes', lines.get('unclosed'), lines.get('unclosed_examples')),
        ('unescaped_quotes', lines.get('unescaped'), lines.get('unescaped_examples')),
        ('blank_rows', lines.get('blank'), lines.get('blank_examples')),
        ('malformed_text', lines.get('malformed'), lines.get('malformed_examples')),
    ] if found and not spark_cdc._is_lifted(run.entity.name, guard) -%}
        {%- set unit = 'file' if guard == 'unclosed_quotes' and spark_cdc._csv_is_multi_line(run.entity) else 'line' -%}
        {%- set message -%}
{{ run.entity.name }}: {{ spark_cdc._counted(found, unit) }} of {{ run.load.business_time }} {{ 'has' if found == 1 else 'have' }} {{ advice[guard] }}.
    - {{ spark_cdc._values_apart_text() if run.entity.sensitive else examples[:5] | join('\n    - ') }}
Nothing was committed and readers see what they saw before. Run the same command again then; to load it as Spark reads it: {# -#}
{{ spark_cdc._lift_command(run.entity, run.load, [guard]) }}.
        {%- endset -%}
        {%- do spark_cdc._refuse_load(run.entity, guard, message, run.load, known) -%}
    {%- endfor -%}
{%- endmacro -%}
