{#- Compares the source's columns with the declared ones: names, and for typed formats whether each type turns into
    the declared one without a loss. -#}
{%- macro _check_columns(entity, input, found) -%}
    {%- set found_names = found | map(attribute='col_name') | list -%}
    {%- set found_folded = found_names | map('lower') | list -%}
    {%- set declared = entity.columns | map(attribute='from') | list -%}
    {%- set declared_folded = declared | map('lower') | list -%}
    {%- set missing = [] -%}
    {%- set unexpected = [] -%}
    {#- events in JSON need not have all columns: see _check_event_columns() -#}
    {%- set is_partial = entity.events and entity.source.format == 'json' -%}
    {%- for column in entity.columns if column.from | lower not in found_folded and not column.optional
            and not (is_partial and column.role != 'control') -%}
        {%- do missing.append(column.from) -%}
    {%- endfor -%}
    {%- for name in found_names if name | lower not in declared_folded -%}{%- do unexpected.append(name) -%}{%- endfor -%}
    {%- set problems = [] -%}
    {%- set refused = [] -%}
    {%- set empty_json = entity.source.format == 'json' and not found_names -%}
    {%- if missing and entity.source.on_missing_column == 'error' and not empty_json -%}
        {%- do problems.append('missing: ' ~ missing | join(', ')) -%}
        {%- do refused.append('missing_columns') -%}
    {%- endif -%}
    {%- if unexpected and entity.source.on_unexpected_column == 'error' -%}
        {%- do problems.append('unexpected: ' ~ unexpected | join(', ')) -%}
        {%- do refused.append('unexpected_columns') -%}
    {%- endif -%}
    {%- if problems -%}
        {%- do spark_cdc._refuse_load(
            entity, refused | join(', '),
            entity.name ~ ': the columns of ' ~ input ~ ' are not the declared ones.\n  ' ~ problems | join('\n  ')
            ~ '\n  found: ' ~ found_names | join(', ') ~ '\n  declared: ' ~ declared | join(', ')
            ~ '\nCorrect the data or the columns of stg_' ~ entity.name ~ '; `from` gives a name in the source, and '
            ~ 'source.on_missing_column: null or source.on_unexpected_column: ignore lift the check. '
            ~ ('To ignore unexpected ones this once: ' ~ spark_cdc._lift_command(
                entity, {'business_time': var('business_date', none)}, ['unexpected_columns']) ~ '. ' if 'unexpected_columns' in refused else '')
            ~ 'Nothing was written.'
        ) -%}
    {%- endif -%}
    {%- if entity.source.format not in ['csv', 'json'] -%}
        {%- do spark_cdc._check_types(entity, input, found) -%}
    {%- endif -%}
{%- endmacro -%}


{%- macro _check_types(entity, input, found) -%}
    {%- set problems = [] -%}
    {%- for column in entity.columns -%}
        {%- for other in found if other.col_name | lower == column.from | lower -%}
            {%- set wanted = 'string' if entity.source.text else column.data_type -%}
            {%- if not spark_cdc._is_lossless(other.data_type | lower, wanted) -%}
                {%- do problems.append(other.col_name ~ ' is ' ~ other.data_type ~ ', declared ' ~ column.data_type) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if problems -%}
        {%- do spark_cdc._refuse_load(
            entity, 'column_types',
            entity.name ~ ': types in ' ~ input ~ ' do not turn into the declared ones without a loss.\n  '
            ~ problems | join('\n  ') ~ '\nDeclare the type found or a wider one in stg_' ~ entity.name
            ~ (', or leave out source.text, which takes text columns only.' if entity.source.text else
               ', or, where all columns hold text, set source.text: true.') ~ ' Nothing was written.'
        ) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Whether every value of one type is a value of the other. -#}
{%- macro _is_lossless(found, declared) -%}
    {%- set found = found | replace(' ', '') -%}
    {%- set declared = declared | replace(' ', '') | replace('integer', 'int') -%}
    {%- if found == declared or modules.re.fullmatch('(var)?char[(][0-9]+[)]', found) and declared == 'string' -%}
        {{ return(true) }}
    {%- endif -%}
    {%- set integers = {'tinyint': 3, 'smallint': 5, 'int': 10, 'bigint': 19} -%}
    {%- set wider = {'tinyint': ['smallint', 'int', 'bigint', 'float', 'double'], 'smallint': ['int', 'bigint', 'float', 'double'],
                     'int': ['bigint', 'double'], 'bigint': [], 'float': ['double'], 'date': ['timestamp_ntz']} -%}
    {%- if declared in wider.get(found, []) -%}
        {{ return(true) }}
    {%- endif -%}
    {%- set to_decimal = modules.re.fullmatch('decimal[(]([0-9]+)(?:,([0-9]+))?[)]', declared) -%}
    {%- set from_decimal = modules.re.fullmatch('decimal[(]([0-9]+)(?:,([0-9]+))?[)]', found) -%}
    {%- if to_decimal and (from_decimal or found in integers) -%}
        {%- set scale = to_decimal.group(2) | default('0', true) | int -%}
        {%- set found_scale = from_decimal.group(2) | default('0', true) | int if from_decimal else 0 -%}
        {%- set found_digits = from_decimal.group(1) | int if from_decimal else integers[found] -%}
        {{ return(scale >= found_scale and to_decimal.group(1) | int - scale >= found_digits - found_scale) }}
    {%- endif -%}
    {%- if modules.re.match('(array|struct|map)<', found) and modules.re.match('(array|struct|map)<', declared) -%}
        {{ return(found == declared) }}
    {%- endif -%}
    {{ return(false) }}
{%- endmacro -%}
