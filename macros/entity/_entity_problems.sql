{#- What is wrong with an entity's configuration. Returns a list of texts, each of which names the entity, what
    was found, what is accepted and what to do. -#}
{%- macro _entity_problems(name, node) -%}
    {%- set problems = [] -%}
    {%- if not modules.re.fullmatch('[a-z][a-z0-9_]{0,79}', name) -%}
        {%- do problems.append("the entity's name is not plain: rename stg_" ~ name ~ " to lower-case letters, digits and _") -%}
    {%- endif -%}
    {%- do problems.extend(spark_cdc._setting_problems(spark_cdc._settings_of(node))) -%}
    {%- do problems.extend(spark_cdc._column_problems(spark_cdc._columns_of(node), spark_cdc._settings_of(node))) -%}
    {%- do problems.extend(spark_cdc._definition_problems(spark_cdc._columns_of(node), spark_cdc._settings_of(node))) -%}
    {%- do problems.extend(spark_cdc._event_problems(node, spark_cdc._settings_of(node))) -%}
    {%- set named = [] -%}
    {%- for problem in problems -%}
        {%- do named.append(name ~ ': ' ~ problem ~ ' (in the YAML of stg_' ~ name ~ ').') -%}
    {%- endfor -%}
    {{ return(named) }}
{%- endmacro -%}


{#- One of several accepted values. -#}
{%- macro _choice_problems(label, value, accepted) -%}
    {{ return([] if value in accepted else [
        label ~ " is '" ~ value ~ "'; accepted are " ~ accepted | join(', ') ~ ": choose one of them"
    ]) }}
{%- endmacro -%}


{#- Keys that mean nothing: most often a misspelt setting, which would be ignored in silence. -#}
{%- macro _unknown_key_problems(label, given, accepted) -%}
    {%- set problems = [] -%}
    {%- for key in given if key not in accepted -%}
        {%- do problems.append(label ~ " has the unknown key '" ~ key ~ "'; accepted are " ~ accepted | join(', ')
            ~ ": correct or remove it") -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{%- macro _setting_problems(settings) -%}
    {%- set problems = [] -%}
    {%- do problems.extend(spark_cdc._unknown_key_problems('meta.spark_cdc', settings, [
        'load_type', 'business_date_type', 'deleted_when', 'timezone', 'source', 'events', 'checkpoint', 'guards', 'on_reject',
        'on_duplicate_key', 'file_format', 'dropped'])) -%}
    {%- do problems.extend(spark_cdc._choice_problems(
        'file_format', settings.get('file_format') or 'parquet', ['parquet', 'orc'])) -%}
    {%- do problems.extend(spark_cdc._choice_problems('load_type', settings.get('load_type'), ['full', 'delta', 'events'])) -%}
    {%- do problems.extend(spark_cdc._choice_problems(
        'business_date_type', settings.get('business_date_type', 'date'), ['date', 'timestamp'])) -%}
    {%- if settings.get('deleted_when') and settings.get('load_type') == 'events' -%}
        {%- do problems.append("deleted_when is given, but load_type is events, where each event says what it does: remove it") -%}
    {%- endif -%}
    {%- if settings.get('deleted_when') and settings.get('load_type') == 'full' -%}
        {%- do problems.append("deleted_when is given, but load_type is full, where a key that is missing counts as "
            ~ "deleted: remove deleted_when or set load_type: delta") -%}
    {%- endif -%}
    {%- if settings.get('deleted_when') is not none and settings.get('deleted_when') is not string -%}
        {%- do problems.append("deleted_when is not a text: write a SQL condition over the columns, such as \"op = 'D'\"") -%}
    {%- endif -%}
    {%- if not modules.re.fullmatch('UTC|[+-][0-9]{2}:[0-9]{2}|[A-Za-z_]+(/[A-Za-z0-9_+-]+)+', settings.get('timezone', 'UTC') | string) -%}
        {%- do problems.append("timezone is '" ~ settings.timezone ~ "'; accepted are UTC, an offset such as +01:00 and "
            ~ "a region such as Europe/Berlin: correct it") -%}
    {%- endif -%}

    {%- set source = settings.get('source') or {} -%}
    {%- if source is not mapping -%}
        {%- do problems.append("source is not a mapping: write format, path and options below it") -%}
    {%- else -%}
        {%- do problems.extend(spark_cdc._unknown_key_problems('source', source, [
            'format', 'path', 'options', 'text', 'date_column', 'on_missing_column', 'on_unexpected_column'])) -%}
        {%- do problems.extend(spark_cdc._choice_problems('source.format', source.get('format', 'csv'), [
            'csv', 'json', 'parquet', 'orc', 'avro', 'table'])) -%}
        {%- do problems.extend(spark_cdc._choice_problems(
            'source.on_missing_column', source.get('on_missing_column', 'error'), ['error', 'null'])) -%}
        {%- do problems.extend(spark_cdc._choice_problems(
            'source.on_unexpected_column', source.get('on_unexpected_column', 'error'), ['error', 'ignore'])) -%}
        {%- if source.get('format') == 'table' and not source.get('date_column') -%}
            {%- do problems.append("source.format is table, but source.date_column is missing: name the column that "
                ~ "holds the business date") -%}
        {%- endif -%}
        {%- if source.get('format', 'csv') != 'table' -%}
            {%- set placeholder = modules.re.search('[{]business_date(:[^{}]*)?[}]', source.get('path') or '') -%}
            {%- if not placeholder -%}
                {%- do problems.append("source.path is '" ~ (source.get('path') or '') ~ "', without a business date: write "
                    ~ "where a date's files lie, such as landing/orders/{business_date} or "
                    ~ "landing/orders/{business_date:%Y/%m/%d}") -%}
            {%- endif -%}
        {%- endif -%}
        {%- set reserved = ['path', 'mode', 'inferschema', 'enforceschema', 'columnnameofcorruptrecord', 'recursivefilelookup'] -%}
        {%- if (source.get('options') or {}) is not mapping -%}
            {%- do problems.append("source.options is not a mapping: write Spark's reader options below it, name: value") -%}
        {%- endif -%}
        {%- for option in (source.get('options') or {}) if option | string | lower in reserved
                or not modules.re.fullmatch('[A-Za-z][A-Za-z0-9_.]*', option | string) -%}
            {%- do problems.append("source.options has '" ~ option ~ "', which spark_cdc sets itself or which is no option "
                ~ "of a Spark reader: remove it") -%}
        {%- endfor -%}
    {%- endif -%}

    {%- do problems.extend(spark_cdc._guard_problems('guards', settings.get('guards'))) -%}
    {%- do problems.extend(spark_cdc._choice_problems('on_reject', settings.get('on_reject', 'fail'), ['fail', 'quarantine'])) -%}
    {%- do problems.extend(spark_cdc._choice_problems(
        'on_duplicate_key', settings.get('on_duplicate_key', 'fail'), ['fail', 'quarantine'])) -%}
    {%- if settings.get('on_duplicate_key') and settings.get('load_type') == 'events' -%}
        {%- do problems.append("on_duplicate_key is given, but load_type is events, where a key may come many times: remove it") -%}
    {%- endif -%}

    {%- set checkpoint = settings.get('checkpoint') or {} -%}
    {%- if checkpoint is not mapping -%}
        {%- do problems.append("checkpoint is not a mapping: write changed_share, loads or rows below it") -%}
        {%- set checkpoint = {} -%}
    {%- endif -%}
    {%- do problems.extend(spark_cdc._unknown_key_problems('checkpoint', checkpoint, ['changed_share', 'loads', 'rows'])) -%}
    {%- for key in ['changed_share', 'loads', 'rows'] if key in checkpoint and (checkpoint[key] is not number or checkpoint[key] < 0) -%}
        {%- do problems.append("checkpoint." ~ key ~ " is '" ~ checkpoint[key] ~ "'; accepted are numbers from 0: correct it") -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{%- macro _column_problems(columns, settings) -%}
    {%- set problems = [] -%}
    {%- set seen = {} -%}
    {%- set origins = {} -%}
    {%- set roles = [] -%}
    {%- set source = settings.get('source') or {} -%}
    {%- set text_source = source is mapping and source.get('format', 'csv') == 'csv' -%}
    {%- for column in columns -%}
        {%- set label = "column '" ~ column['name'] ~ "'" -%}
        {%- set meta = spark_cdc._meta_of(column) -%}
        {%- set role = meta.get('role', 'compared') -%}
        {%- set folded = column['name'] | string | lower -%}
        {%- if folded in spark_cdc._technical_columns() or (settings.get('load_type') == 'events'
                and (folded in spark_cdc._event_technical_columns() or modules.re.match('(step|old|filled|prior)__', folded))) -%}
            {%- do problems.append(label ~ " has a name that spark_cdc uses for a column of its own: give it another name "
                ~ "and say under meta `from: " ~ column['name'] ~ "`") -%}
        {%- endif -%}
        {%- if folded.startswith('raw__') or modules.re.search('[\n\r]', folded) or folded | length > 128 -%}
            {%- do problems.append(label ~ " has a name that is too long, has a line break or begins with raw__: rename it "
                ~ "and give its name in the source under meta as `from`") -%}
        {%- endif -%}
        {%- if '${' in folded or '${' in meta.get('from', '') | string -%}
            {%- do problems.append(label ~ " has ${ in its name here or in the source, in the place of which Spark puts a setting: rename it "
                ~ "in the source, or in a view on it that source.format: table reads") -%}
        {%- endif -%}
        {%- if folded in seen -%}
            {%- do problems.append(label ~ " and column '" ~ seen[folded] ~ "' have names that differ at most by case, which "
                ~ "Spark can't tell apart: rename one of them") -%}
        {%- endif -%}
        {%- do seen.update({folded: column['name']}) -%}
        {%- set origin = meta.get('from', column['name']) | string | lower -%}
        {%- if origin in origins and folded != origins[origin] | lower -%}
            {%- do problems.append(label ~ " and column '" ~ origins[origin] ~ "' both come from '" ~ origin
                ~ "' of the source: correct `from` of one of them") -%}
        {%- endif -%}
        {%- do origins.update({origin: column['name']}) -%}
        {%- if role is not string -%}
            {%- do problems.append(label ~ " has the roles " ~ role ~ ", but takes one: choose key, ignore, control or none") -%}
        {%- else -%}
            {%- do problems.extend(spark_cdc._choice_problems(label ~ ": role", role, ['key', 'compared', 'ignore', 'control'])) -%}
            {%- do roles.append(role) -%}
        {%- endif -%}
        {%- if meta.get('nullable', true) is not boolean -%}
            {%- do problems.append(label ~ ": nullable is '" ~ meta.nullable ~ "'; accepted are true and false: correct it") -%}
        {%- endif -%}
        {%- if role == 'key' and meta.get('nullable', false) -%}
            {%- do problems.append(label ~ " is a key and nullable: a key can't be null, remove one of them") -%}
        {%- endif -%}
        {%- set data_type = (column.get('data_type') or '') | string | trim -%}
        {%- if not data_type -%}
            {%- do problems.append(label ~ " has no data_type: write one, such as string, bigint or decimal(10,2)") -%}
        {%- else -%}
            {%- set problem = spark_cdc._hash_type_problem(data_type) -%}
            {%- if problem is not none -%}
                {%- do problems.append(label ~ ": " ~ problem) -%}
            {%- elif text_source and modules.re.match('(array|struct|map)', data_type | lower) -%}
                {%- do problems.append(label ~ " has the type " ~ data_type ~ ", which CSV can't hold: declare it string, or "
                    ~ "land the data as json, parquet, orc or avro") -%}
            {%- endif -%}
            {%- do problems.extend(spark_cdc._format_problems(label, data_type | lower, meta.get('format'))) -%}
            {%- do problems.extend(spark_cdc._encoding_problems(label, data_type | lower, meta.get('encoding'), meta.get('format'))) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if 'key' not in roles and not (settings.get('load_type') == 'events' and (settings.get('events') or {}).get('insert_only')) -%}
        {%- do problems.append("no column has the role key: give `role: key` under meta to the columns that identify a row") -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}


{%- macro _format_problems(label, data_type, format) -%}
    {%- if format is none -%}
        {{ return([]) }}
    {%- endif -%}
    {%- if data_type == 'binary' -%}
        {{ return(spark_cdc._choice_problems(label ~ ': format', format, ['base64', 'hex', 'utf8'])) }}
    {%- endif -%}
    {%- if data_type not in ['date', 'timestamp', 'timestamp_ntz'] -%}
        {{ return([label ~ " has a format, but the type " ~ data_type ~ ": formats are for dates, timestamps and binary, remove it"]) }}
    {%- endif -%}
    {{ return([]) }}
{%- endmacro -%}


{%- macro _encoding_problems(label, data_type, encoding, format) -%}
    {%- if encoding is none -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set kind = spark_cdc._hash_type(data_type).get('kind') -%}
    {%- if kind is none -%}
        {{ return([]) }}  {#- the type itself is reported -#}
    {%- elif kind not in ['decimal', 'date', 'timestamp', 'timestamp_ntz'] -%}
        {{ return([label ~ " has an encoding, but the type " ~ data_type ~ ": encodings are for dates, timestamps and decimals, remove it"]) }}
    {%- endif -%}
    {%- set problems = spark_cdc._choice_problems(label ~ ': encoding', encoding,
        ['base64'] if kind == 'decimal' else ['days', 'seconds', 'millis', 'micros', 'nanos']) -%}
    {%- if format is not none -%}
        {%- do problems.append(label ~ " has a format and an encoding: a number since 1970 has no pattern, remove one of them") -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}
