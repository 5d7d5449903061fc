{#- Compares the source's columns with the declared ones: names, and for typed formats whether each type turns into
    the declared one without a loss. Returns none, or why the load is to be refused: {guard, message}. -#}
{%- macro _check_columns(entity, input, found) -%}
    {%- set found_names = found | map(attribute='col_name') | map('replace', '\r\n', '\n') | list -%}
    {%- set declared = entity.columns | map(attribute='from') | list -%}
    {%- set is_json = entity.source.format == 'json' -%}
    {%- set missing = spark_cdc._missing_columns(entity, found) | rejectattr('optional') -%}
    {#- events in JSON need not have all columns: see _check_event_columns() -#}
    {%- set missing = missing | selectattr('role', 'equalto', 'control') if entity.events and is_json else missing -%}
    {%- set missing = missing | map(attribute='from') | list -%}
    {%- set unexpected = [] -%}
    {%- for name in found_names if name | lower not in declared | map('lower') -%}{%- do unexpected.append(name) -%}{%- endfor -%}
    {%- for name in ['landing_problem', 'landing_names'] if name in (declared if is_json else found_names) | map('lower') and (name != 'landing_names' or entity.events) -%}
        {%- set message -%}
{{ entity.name }}: {{ input }} has a column '{{ name }}', a name that spark_cdc gives to a column of its own there. Have it delivered under another {# -#}
name, or read a view on it that renames it. Nothing was written.
        {%- endset -%}
        {{ return({'guard': 'unexpected_columns', 'message': message}) }}
    {%- endfor -%}
    {%- set refused = {} -%}
    {%- if missing and not found_names and not is_json -%}
        {%- do refused.update({'missing_columns': 'missing: ' ~ spark_cdc._names_shown(missing) ~ ' (there is no header: the input is empty)'}) -%}
    {%- elif missing and found_names and entity.source.on_missing_column == 'error' -%}
        {%- do refused.update({'missing_columns': 'missing: ' ~ spark_cdc._names_shown(missing)}) -%}
    {%- endif -%}
    {%- if unexpected and entity.source.on_unexpected_column == 'error' -%}
        {%- do refused.update({'unexpected_columns': 'unexpected: ' ~ spark_cdc._names_shown(unexpected)}) -%}
    {%- endif -%}
    {%- if not refused -%}
        {{ return(none if is_json or entity.source.format == 'csv' else spark_cdc._check_types(entity, input, found)) }}
    {%- endif -%}
    {%- if modules.re.search('[\\x00-\\x08\\x0e-\\x1f\\ufffd]', found_names | join) -%}
        {%- set message -%}
{{ entity.name }}: the header of {{ input }} is no text. Is a file compressed? Spark goes by the name: one of gzip has to end in .gz, as {# -#}
data.csv.gz does, of bzip2 in .bz2. If it is text in another encoding than UTF-8, name it in source.options.encoding.
  declared: {{ declared | join(', ') }}
Nothing was written.
        {%- endset -%}
        {{ return({'guard': refused | join(', '), 'message': message}) }}
    {%- endif -%}
    {%- set message -%}
{{ entity.name }}: the columns of {{ input }} are not the declared ones.
  {{ refused.values() | join('\n  ') }}
  found: {{ spark_cdc._names_shown(found_names) }}
  declared: {{ spark_cdc._names_shown(declared) }}
{% if found_names -%}
Correct the data or the columns of stg_{{ entity.name }}; `from` gives a name in the source, and source.on_missing_column: null or {# -#}
source.on_unexpected_column: ignore lift the check. {# -#}
{%- else -%}
Deliver the input anew: one without rows has its header. {# -#}
{%- endif -%}
{%- if 'unexpected_columns' in refused -%}
{%- set load = {'business_time': spark_cdc._business_date(entity.name)} -%}
To ignore unexpected ones this once: {{ spark_cdc._lift_command(entity, load, ['unexpected_columns']) }}. {# -#}
{%- endif -%}
Nothing was written.
    {%- endset -%}
    {{ return({'guard': refused | join(', '), 'message': message}) }}
{%- endmacro -%}


{%- macro _check_types(entity, input, found) -%}
    {%- set problems = [] -%}
    {%- for column in entity.columns -%}
        {%- for other in found if other.col_name | lower == column.from | lower -%}
            {%- if not spark_cdc._is_lossless(other.data_type | lower, spark_cdc._is_lossless_type(entity, column)) -%}
                {%- do problems.append(other.col_name ~ ' is ' ~ other.data_type ~ ', declared ' ~ column.data_type
                    ~ (' with encoding: ' ~ column.encoding if column.encoding)) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if not problems -%}{{ return(none) }}{%- endif -%}
    {%- set message -%}
{{ entity.name }}: types in {{ input }} do not turn into the declared ones without a loss.
  {{ problems | join('\n  ') }}
Declare the type found or a wider one in stg_{{ entity.name }}, or{{ ' leave out source.text, which takes text columns only' if entity.source.text
else ', where all columns hold text, set source.text: true' }}. {# -#}
Numbers that count a time are read with encoding: nanos, micros, millis, seconds or days under meta of the column. Nothing was written.
    {%- endset -%}
    {{ return({'guard': 'column_types', 'message': message}) }}
{%- endmacro -%}
