{#- Every setting there is, said once: the check at the start of a run and `spark-cdc new` walk these tables
    (_setting_problems), and what is not given gets its default from them (_completed).
    Returns a dictionary of tables, `entity` (what stands below meta.spark_cdc), `events` (below its `events`, whatever the format),
    `column` (below a column's meta) and `vars`: rules by name, in the order in which messages list the names. A rule is a dictionary:
        kind      choice (of `accepted`), pattern (a regular expression in `pattern`), boolean, number (from 0), days (whole, from 0), text,
                  names (one, or a list), value (text, number or boolean), band (two numbers), mapping, or any, which is judged elsewhere
        by_type   what columns may say whose type is named: type to a list of what is accepted, or to none for any; of masks the types that each fits
        default   what holds where the setting is not given
        required  whether it has to be given
        null      whether null is accepted: true (as if it were not given), 'off', or 'text' (as the text null)
        says      what is accepted, or is to be written, in messages; where the kind does not say it
        unless    load types that do not know the setting: load type to the reason, for messages
        settings  rules of what stands below a mapping
        each      rules of what stands below each name of a mapping, whose names are the user's -#}
{%- macro _known_settings() -%}
    {%- set on_reject = {'kind': 'choice', 'accepted': ['fail', 'quarantine'], 'default': 'fail'} -%}
    {%- set file_format = {'kind': 'choice', 'accepted': ['parquet', 'orc'] + spark_cdc._table_formats(), 'null': true} -%}
    {%- set instants = ['days', 'seconds', 'millis', 'micros', 'nanos'] -%}
    {%- set numbers = {
        'decimal': {'kind': 'choice', 'accepted': ['.', ','], 'null': true, 'says': "'.' and ','"},
        'grouping': {'kind': 'choice', 'accepted': ['.', ',', "'", ' ', '_'], 'null': true, 'says': "'.', ',', \"'\", ' ' (a blank) and '_'"},
        'trailing_sign': {'kind': 'boolean', 'null': true},
    } -%}
    {%- set source = {
        'format': {'kind': 'choice', 'accepted': ['csv', 'json', 'parquet', 'orc', 'avro', 'table', 'change_feed'], 'default': 'csv'},
        'path': {'kind': 'any'},
        'table': {'kind': 'pattern', 'pattern': '[A-Za-z_][A-Za-z0-9_-]*([.][A-Za-z_][A-Za-z0-9_-]*){1,2}', 'null': true,
                  'says': 'a schema and a table such as shop.orders, and a catalog before them'},
        'net_changes': {'kind': 'boolean', 'default': false},
        'columns': {'kind': 'mapping', 'null': true, 'says': 'names of columns with their names in this source below it'},
        'options': {'kind': 'mapping', 'null': true, 'says': "Spark's reader options below it, name: value"},
        'text': {'kind': 'boolean', 'null': true},
        'date_column': {'kind': 'any'},
        'stream': {'kind': 'mapping', 'null': true, 'says': 'topic, pattern or files, and encoding, below it', 'settings': {
            'topic': {'kind': 'names', 'null': true},
            'pattern': {'kind': 'text', 'null': true, 'says': "a regular expression of topics, such as 'shop[.]public[.]orders_.*'"},
            'files': {'kind': 'text', 'null': true, 'says': 'a folder into which files come'},
            'encoding': {'kind': 'choice', 'accepted': ['json', 'avro'], 'default': 'json'},
            'key_encoding': {'kind': 'choice', 'accepted': ['json', 'avro'], 'null': true},
        }},
        'on_missing_column': {'kind': 'choice', 'accepted': ['error', 'null'], 'null': 'text', 'default': 'error'},
        'on_no_files': {'kind': 'choice', 'accepted': ['error', 'empty'], 'default': 'error'},
        'on_unexpected_column': {'kind': 'choice', 'accepted': ['error', 'ignore'], 'default': 'error'},
    } -%}
    {%- do source.update(numbers) -%}
    {%- set checkpoint = {'kind': 'mapping', 'null': true, 'says': 'changed_share, loads or rows below it', 'settings': {
        'changed_share': {'kind': 'number', 'default': 0.2},
        'loads': {'kind': 'number', 'default': 50},
        'rows': {'kind': 'number', 'default': 1000000},
    }} -%}
    {#- by the end of a run: the number of loads from which on older ones are squashed, how many are kept as they are, how long what that supersedes stays -#}
    {%- set upkeep = {'kind': 'mapping', 'null': true, 'says': 'compact_loads, keep_loads or retention_hours below it', 'settings': {
        'compact_loads': {'kind': 'number', 'null': 'off', 'default': 100},
        'keep_loads': {'kind': 'number', 'default': 50},
        'retention_hours': {'kind': 'number', 'null': 'off', 'default': 168},
    }} -%}
    {#- empty: an empty full snapshot, where rows exist. Shares are of the rows before; rows_band is of the rows in, as multiples
        of the median of the last loads; rejects and rejected_share are of quarantined rows, late_share is of events of known keys. Shares and the band count where there
        are at least min_rows rows. -#}
    {%- set guards = {'kind': 'mapping', 'null': true, 'settings': {
        'empty': {'kind': 'choice', 'accepted': ['refuse'], 'null': 'off', 'default': 'refuse'},
        'deleted_share': {'kind': 'number', 'null': 'off', 'default': 0.5},
        'updated_share': {'kind': 'number', 'null': 'off', 'default': 0.95},
        'inserted_share': {'kind': 'number', 'null': 'off', 'default': 10},
        'rows_band': {'kind': 'band', 'null': 'off', 'default': [0.2, 5]},
        'rejects': {'kind': 'number', 'null': 'off', 'default': 1000},
        'rejected_share': {'kind': 'number', 'null': 'off', 'default': 0.1},
        'late_share': {'kind': 'number', 'null': 'off', 'default': 0.2},
        'min_rows': {'kind': 'number', 'default': 100},
    }} -%}
    {#- at_most: the share of judged rows that may break the rule, where there are at least guards.min_rows of them -#}
    {%- set rule = {
        'condition': {'kind': 'text', 'required': true, 'says': 'a SQL condition over the columns, such as "amount >= 0"'},
        'action': {'kind': 'choice', 'accepted': ['warn', 'drop', 'fail'], 'default': 'warn'},
        'at_most': {'kind': 'number', 'null': 'off'},
    } -%}
    {{ return({
        'entity': {
            'load_type': {'kind': 'choice', 'accepted': ['full', 'delta', 'events'], 'required': true},
            'business_date_type': {'kind': 'choice', 'accepted': ['date', 'timestamp'], 'default': 'date'},
            'deleted_when': {'kind': 'text', 'null': true, 'says': "a SQL condition over the columns, such as \"op = 'D'\"", 'unless': {
                'full': 'where a key that is missing counts as deleted: remove deleted_when or set load_type: delta',
                'events': 'where each event says what it does: remove it',
            }},
            'timezone': {'kind': 'pattern', 'pattern': 'UTC|[+-][0-9]{2}:[0-9]{2}|[A-Za-z_]+(/[A-Za-z0-9_+-]+)+', 'default': 'UTC',
                         'says': 'UTC, an offset such as +01:00 and a region such as Europe/Berlin'},
            'source': {'kind': 'mapping', 'null': true, 'says': 'format, path and options below it', 'settings': source},
            'sources': {'kind': 'mapping', 'null': true, 'says': 'full or delta below it', 'settings': {
                'full': {'kind': 'mapping', 'null': true, 'says': 'format, path and options below it', 'settings': source},
                'delta': {'kind': 'mapping', 'null': true, 'says': 'format, path and options below it', 'settings': source},
            }},
            'events': {'kind': 'any'},
            'checkpoint': checkpoint,
            'upkeep': upkeep,
            'cluster_by': {'kind': 'names', 'null': true},
            'target_file_mb': {'kind': 'number', 'default': 128},
            'guards': guards,
            'rules': {'kind': 'mapping', 'null': true, 'says': 'names of rules below it, each with a condition', 'each': rule},
            'on_reject': on_reject,
            'on_duplicate_key': dict(on_reject, unless={'events': 'where a key may come many times: remove it'}),
            'file_format': file_format,
            'dropped': {'kind': 'names', 'null': true},
            'expect': {'kind': 'pattern', 'pattern': 'daily|hourly|weekly|[1-9][0-9]{0,5}[mhdw]', 'null': true,
                       'says': 'daily, hourly, weekly, or a number of minutes, hours, days or weeks such as 15m'},
            'priority': {'kind': 'number', 'default': 0},
        },
        'events': {
            'format': {'kind': 'any'},
            'order': {'kind': 'any'},
            'tie_breaker': {'kind': 'any'},
            'insert_only': {'kind': 'boolean', 'default': false},
            'unique_keys': {'kind': 'any'},
            'unavailable': {'kind': 'any'},
            'null_means': {'kind': 'choice', 'accepted': ['value', 'unchanged'], 'default': 'value'},
            'tombstone_days': {'kind': 'days', 'default': 30},
            'archive': {'kind': 'boolean', 'default': false},
        },
        'column': dict(numbers, **{
            'role': {'kind': 'choice', 'accepted': ['key', 'compared', 'ignore', 'control'], 'default': 'compared'},
            'nullable': {'kind': 'boolean'},
            'from': {'kind': 'any'},
            'format': {'kind': 'any', 'says': 'formats are for dates, timestamps and binary',
                       'by_type': {'binary': ['base64', 'hex', 'utf8'], 'date': none, 'timestamp': none, 'timestamp_ntz': none}},
            'century': {'kind': 'pattern', 'pattern': '[1-9][0-9]{3}', 'null': true,
                        'says': 'the first of the hundred years that two digits stand for, such as 1950'},
            'encoding': {'kind': 'any', 'says': 'encodings are for dates, timestamps and decimals',
                         'by_type': {'decimal': ['base64'], 'date': instants, 'timestamp': instants, 'timestamp_ntz': instants}},
            'was': {'kind': 'names', 'null': true},
            'default': {'kind': 'value', 'null': true},
            'on_misfit': {'kind': 'choice', 'accepted': ['error', 'null'], 'default': 'error'},
            'null_means': {'kind': 'choice', 'accepted': ['value', 'unchanged']},
            'sensitive': {'kind': 'boolean', 'default': false},
            'pseudonymize': {'kind': 'boolean', 'default': false},
            'pseudonym_domain': {'kind': 'pattern', 'pattern': '[A-Za-z_][A-Za-z0-9_]*', 'null': true, 'says': 'a plain name such as customer'},
            'mask': {'kind': 'choice', 'accepted': ['none', 'last_4', 'mail_domain', 'year'], 'default': 'none',
                     'by_type': {'last_4': ['string'], 'mail_domain': ['string'], 'year': ['date', 'timestamp', 'timestamp_ntz']}},
        }),
        'vars': {
            'spark_cdc_checkpoint': checkpoint,
            'spark_cdc_upkeep': upkeep,
            'spark_cdc_guards': guards,
            'spark_cdc_file_format': dict(file_format, default='parquet'),
            'spark_cdc_manifest_limit': {'kind': 'number', 'default': 32000},
            'spark_cdc_verify_in_build': {'kind': 'boolean', 'default': false},
            'spark_cdc_sensitive_schema': {'kind': 'pattern', 'pattern': '[A-Za-z_][A-Za-z0-9_]*', 'default': 'sensitive',
                                           'says': 'a name without dots, such as sensitive'},
        },
    }) }}
{%- endmacro -%}
