{#- Every setting there is, said once: the check at the start of a run and `spark-cdc new` walk
    these tables (_setting_problems), and what is not given gets its default from them (_completed).
    Returns a dictionary of tables, `entity` (what stands below meta.spark_cdc), `events` (below its
    `events`, whatever the format), `column` (below a column's meta) and `vars`: rules by name, in
    the order in which messages list the names. A rule is a dictionary:
        kind      choice (of `accepted`), form (of text: `form` of _has_form), boolean, number (from
                  0), days (whole, from 0), text, names (one, or a list), value (text, number or
                  boolean), band (two numbers), mapping, or any, which is judged elsewhere
        by_type   what columns may say whose type is named: type to a list of what is accepted, or
                  to none for any; of masks the types that each fits
        default   what holds where the setting is not given
        required  whether it has to be given
        null      whether null is accepted: true (as if it were not given), 'off', or 'text' (as the
                  text null)
        says      what is accepted, or is to be written, in messages; where the kind does not say it
        unless    load types that do not know the setting: load type to the reason, for messages
        settings  rules of what stands below a mapping
        each      rules of what stands below each name of a mapping, whose names are the user's -#}
{%- macro _known_settings() -%}
    {%- set memo = spark_cdc._memo() -%}
    {%- if 'settings' not in memo -%}{%- do memo.update({'settings': spark_cdc._known_settings_table()}) -%}{%- endif -%}
    {{ return(memo.settings) }}
{%- endmacro -%}


{%- macro _known_settings_table() -%}
    {%- set on_reject = {'kind': 'choice', 'accepted': ['fail', 'quarantine'], 'default': 'fail'} -%}
    {%- set file_format = {'kind': 'choice', 'accepted': spark_cdc._table_formats() | list, 'null': true} -%}
    {%- set instants = ['days', 'seconds', 'millis', 'micros', 'nanos'] -%}
    {%- set numbers = {
        'decimal': {'kind': 'choice', 'accepted': ['.', ','], 'null': true, 'says': "'.' and ','"},
        'grouping': {'kind': 'choice', 'accepted': ['.', ',', "'", ' ', '_'], 'null': true, 'says': "'.', ',', \"'\", ' ' (a blank) and '_'"},
        'trailing_sign': {'kind': 'boolean', 'null': true},
    } -%}
    {%- set source = {
        'format': {'kind': 'choice', 'accepted': spark_cdc._source_formats() | list, 'default': spark_cdc._source_format({})},
        'path': {'kind': 'any'},
        'table': {'kind': 'form', 'form': 'table', 'null': true,
                  'says': 'a schema and a table such as shop.orders, and a catalog before them'},
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
        'complete_when': {'kind': 'text', 'null': true,
                          'says': "the name of a marker beside the files, such as _SUCCESS or '{file}.done'"},
        'on_no_files': {'kind': 'choice', 'accepted': ['error', 'empty'], 'default': 'error'},
        'on_unexpected_column': {'kind': 'choice', 'accepted': ['error', 'ignore', 'add'], 'default': 'error'},
    } -%}
    {%- do source.update(numbers) -%}
    {%- set checkpoint = {'kind': 'mapping', 'null': true, 'says': 'changed_share, loads or rows below it', 'settings': {
        'changed_share': {'kind': 'number', 'default': 0.2},
        'loads': {'kind': 'number', 'default': 50},
        'rows': {'kind': 'number', 'default': 1000000},
    }} -%}
    {#- by the end of a run: the number of loads from which on the older half is compacted, how
        long what that supersedes stays -#}
    {%- set maintenance = {'kind': 'mapping', 'null': true, 'says': 'compact_loads or retention_hours below it', 'settings': {
        'compact_loads': {'kind': 'number', 'null': 'off', 'default': 100},
        'retention_hours': {'kind': 'number', 'null': 'off', 'default': 168},
    }} -%}
    {#- the columns of <entity>_versions that say when a version holds; open_end: the end of one
        that still does -#}
    {%- set validity = {'kind': 'mapping', 'null': true, 'says': 'start, end, current, open_end or end_is below it', 'settings': {
        'start': {'kind': 'form', 'form': 'name', 'default': 'eff_start_date', 'says': 'a plain name such as valid_from'},
        'end': {'kind': 'form', 'form': 'name', 'default': 'eff_end_date', 'says': 'a plain name such as valid_to'},
        'current': {'kind': 'form', 'form': 'name', 'default': 'is_current', 'says': 'a plain name such as is_active'},
        'open_end': {'kind': 'any', 'default': none},
        'end_is': {'kind': 'choice', 'accepted': ['exclusive', 'inclusive'], 'default': 'exclusive'},
    }} -%}
    {#- empty: an empty full snapshot, where rows exist. Shares are of the rows before; rows_band is
        of the rows in, as multiples of the median of the last loads; rejected_share is of
        quarantined rows, late_share of events of known keys. Shares and the band count where there
        are at least min_rows rows; deleted_share also where min_deleted rows would go.
        unfinished_file: a file of CSV or JSON lines whose last line has no line end. -#}
    {%- set guards = {'kind': 'mapping', 'null': true, 'settings': {
        'empty': {'kind': 'choice', 'accepted': ['refuse'], 'null': 'off', 'default': 'refuse'},
        'deleted_share': {'kind': 'number', 'null': 'off', 'default': 0.25},
        'updated_share': {'kind': 'number', 'null': 'off', 'default': 0.95},
        'inserted_share': {'kind': 'number', 'null': 'off', 'default': 10},
        'rows_band': {'kind': 'band', 'null': 'off', 'default': [0.2, 5]},
        'rejected_share': {'kind': 'number', 'null': 'off', 'default': 0.1},
        'late_share': {'kind': 'number', 'null': 'off', 'default': 0.2},
        'unfinished_file': {'kind': 'choice', 'accepted': ['refuse'], 'null': 'off', 'default': 'refuse'},
        'min_rows': {'kind': 'number', 'default': 100},
        'min_deleted': {'kind': 'number', 'default': 10},
    }} -%}
    {#- at_most: the share of judged rows that may break the rule, where there are at least
        guards.min_rows of them -#}
    {%- set rule = {
        'condition': {'kind': 'text', 'required': true, 'says': 'a SQL condition over the columns, such as "amount >= 0"'},
        'action': {'kind': 'choice', 'accepted': ['warn', 'drop', 'fail'], 'default': 'warn'},
        'at_most': {'kind': 'number', 'null': 'off'},
    } -%}
    {%- set settings = {
        'entity': {
            'load_type': {'kind': 'choice', 'accepted': ['full', 'delta', 'events'], 'required': true},
            'business_date_type': {'kind': 'choice', 'accepted': ['date', 'timestamp'], 'default': 'date'},
            'deleted_when': {'kind': 'text', 'null': true, 'says': "a SQL condition over the columns, such as \"op = 'D'\"", 'unless': {
                'full': 'where a key that is missing counts as deleted: remove deleted_when or set load_type: delta',
                'events': 'where each event says what it does: remove it',
            }},
            'timezone': {'kind': 'form', 'form': 'timezone', 'default': 'UTC',
                         'says': 'UTC, an offset such as +01:00 and a region such as Europe/Berlin'},
            'source': {'kind': 'mapping', 'null': true, 'says': 'format, path and options below it', 'settings': source},
            'sources': {'kind': 'mapping', 'null': true, 'says': 'full or delta below it', 'settings': {
                'full': {'kind': 'mapping', 'null': true, 'says': 'format, path and options below it', 'settings': source},
                'delta': {'kind': 'mapping', 'null': true, 'says': 'format, path and options below it', 'settings': source},
            }},
            'events': {'kind': 'any'},
            'checkpoint': checkpoint,
            'maintenance': maintenance,
            'validity': validity,
            'cluster_by': {'kind': 'names', 'null': true},
            'guards': guards,
            'rules': {'kind': 'mapping', 'null': true, 'says': 'names of rules below it, each with a condition', 'each': rule},
            'on_reject': on_reject,
            'on_duplicate_key': dict(on_reject, unless={'events': 'where a key may come many times: remove it'}),
            'file_format': file_format,
            'dropped_columns': {'kind': 'names', 'null': true},
            'keyless': {'kind': 'boolean', 'default': false},
            'archive_input': {'kind': 'boolean', 'default': false, 'unless': {'events': 'which keeps events by events.archive: remove it'}},
            'expected_every': {'kind': 'form', 'form': 'interval', 'null': true,
                       'says': 'daily, hourly, weekly, or a number of minutes, hours, days or weeks such as 15m'},
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
            'role': {'kind': 'choice', 'accepted': ['key', 'compared', 'untracked', 'control'], 'default': 'compared'},
            'nullable': {'kind': 'boolean'},
            'from': {'kind': 'any'},
            'format': {'kind': 'any', 'says': 'formats are for dates, timestamps and binary',
                       'by_type': {'binary': ['base64', 'hex', 'utf8'], 'date': none, 'timestamp': none, 'timestamp_ntz': none}},
            'century': {'kind': 'form', 'form': 'year', 'null': true,
                        'says': 'the first of the hundred years that two digits stand for, such as 1950'},
            'encoding': {'kind': 'any', 'says': 'encodings are for dates, timestamps and decimals',
                         'by_type': {'decimal': ['base64'], 'date': instants, 'timestamp': instants, 'timestamp_ntz': instants}},
            'renamed_from': {'kind': 'names', 'null': true},
            'default': {'kind': 'value', 'null': true},
            'on_cast_error': {'kind': 'choice', 'accepted': ['error', 'null'], 'default': 'error'},
            'null_means': {'kind': 'choice', 'accepted': ['value', 'unchanged']},
            'sensitive': {'kind': 'boolean', 'default': false},
            'pseudonymize': {'kind': 'form', 'form': 'name', 'null': true, 'says': 'true, false and the name of a domain such as customer', 'default': false},
            'mask': {'kind': 'choice', 'accepted': ['none', 'last_4', 'mail_domain', 'year'], 'default': 'none',
                     'by_type': {'last_4': ['string'], 'mail_domain': ['string'], 'year': ['date', 'timestamp', 'timestamp_ntz']}},
        }),
        'vars': {
            'spark_cdc_checkpoint': checkpoint,
            'spark_cdc_maintenance': maintenance,
            'spark_cdc_validity': validity,
            'spark_cdc_guards': guards,
            'spark_cdc_file_format': dict(file_format, default=none),
            'spark_cdc_platform': {'kind': 'choice', 'accepted': spark_cdc._platforms() | list, 'null': true, 'default': none},
            'spark_cdc_manifest_limit': {'kind': 'number', 'default': 32000},
            'spark_cdc_verify_in_build': {'kind': 'boolean', 'default': false},
            'spark_cdc_require_business_date': {'kind': 'boolean', 'default': false},
            'spark_cdc_maintain_in_run': {'kind': 'boolean', 'default': false},
            'spark_cdc_sensitive_schema': {'kind': 'form', 'form': 'name', 'default': 'sensitive',
                                           'says': 'a name without dots, such as sensitive'},
        },
    } -%}
    {#- without which nobody knows what the ledger is -#}
    {%- set needed = {
        'entity': ['load_type', 'business_date_type', 'events', 'dropped_columns', 'file_format', 'keyless'],
        'column': ['role', 'sensitive', 'pseudonymize', 'mask'],
    } -%}
    {#- which are declared as they are, and known without a look at their parts -#}
    {%- set plain_types = ['string', 'int', 'bigint', 'date', 'timestamp', 'boolean', 'double'] -%}
    {{ return(dict(settings, plain_types=plain_types, needed={
        'entity': dict(settings.entity.items() | selectattr(0, 'in', needed.entity)),
        'column': dict(settings.column.items() | selectattr(0, 'in', needed.column)),
    })) }}
{%- endmacro -%}


{#- What is wrong with settings, as their rules say it. Arguments: label (what stands in front of a
    setting's name in messages, such as 'source.'), given (dictionary), rules (a table of
    _known_settings), load_type (none where it plays no part).
    Returns a list of texts: what was found, what is accepted, what to do. -#}
{%- macro _setting_problems(label, given, rules, load_type=none) -%}
    {%- set problems = [] -%}
    {%- for name, rule in rules.items() if name in given or rule.get('required') -%}
        {%- set value = given.get(name) -%}
        {#- most settings are fine, which is seen without another macro -#}
        {%- set is_fine = rule.kind == 'any' or value in rule.get('accepted', []) or (value is none and rule.get('null')) -%}
        {%- set problem = none if is_fine else spark_cdc._setting_error(label ~ name, value, rule) -%}
        {%- if problem is not none -%}
            {%- do problems.append(problem) -%}
        {%- elif rule.get('settings') and value is mapping -%}
            {%- do problems.extend(spark_cdc._unknown_key_problems(label ~ name, value, rule.settings | list)) -%}
            {%- do problems.extend(spark_cdc._setting_problems(label ~ name ~ '.', value, rule.settings)) -%}
        {%- elif rule.get('each') and value -%}
            {%- for one, below in value.items() -%}
                {%- do problems.extend(spark_cdc._setting_problems(label ~ name ~ '.', {one: below}, {one: {
                    'kind': 'mapping', 'settings': rule.each,
                }})) -%}
            {%- endfor -%}
        {%- endif -%}
        {%- for type, reason in rule.get('unless', {}).items() if value and load_type == type -%}
            {%- do problems.append(label ~ name ~ ' is given, but load_type is ' ~ type ~ ', ' ~ reason) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with a pattern of dates or times: Spark refuses letters, or so many of them, or
    reads nothing by it. Returns a text, or none. -#}
{%- macro _pattern_problem(format) -%}
    {%- set most = {'y': 6, 'M': 4, 'L': 4, 'd': 2, 'D': 3, 'H': 2, 'h': 2, 'k': 2, 'K': 2, 'm': 2, 's': 2, 'S': 9, 'a': 1, 'G': 4, 'z': 4, 'O': 4, 'X': 5, 'x': 5,
                    'Z': 5, 'V': 2} -%}
    {%- set seen = namespace(quoted=false, run='', open=0, problem=none) -%}
    {%- set letters = [] -%}
    {%- for sign in format ~ ' ' -%}
        {%- if seen.run and (seen.quoted or sign != seen.run[0]) -%}
            {%- set letter, count = seen.run[0], seen.run | length -%}
            {%- if count > most.get(letter, 0) or (letter == 'V' and count != 2) or (letter == 'O' and count not in [1, 4]) -%}
                {%- set seen.problem = "'%s' is no part of Spark's patterns" % seen.run -%}
            {%- endif -%}
            {%- do letters.append(letter) -%}
            {%- set seen.run = '' -%}
        {%- endif -%}
        {%- if sign == "'" -%}
            {%- set seen.quoted = not seen.quoted -%}
        {%- elif not seen.quoted and (sign | lower) in 'abcdefghijklmnopqrstuvwxyz' -%}
            {%- set seen.run = seen.run ~ sign -%}
        {%- elif not seen.quoted and sign in '#{}[]' -%}
            {%- set seen.open = seen.open + {'[': 1, ']': -1}.get(sign, 0) -%}
            {%- if sign in '#{}' or seen.open < 0 -%}{%- set seen.problem = "'%s' has no meaning there" % sign -%}{%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set hours = letters | select('in', ['H', 'h', 'k', 'K', 'a']) | list -%}
    {%- set reasons = spark_cdc._failed_rules({}, [
        (seen.problem is not none, seen.problem | default('', true) | replace('%', '%%')),
        (seen.quoted, "a quote (') is not closed"),
        (seen.open > 0, 'a bracket ([) is not closed'),
        ('m' in letters and not hours, 'there are minutes (m) without hours; a month is M'),
        (('h' in letters or 'K' in letters) and 'a' not in letters, 'there are hours of half a day (h, K) without AM or PM (a); hours from 0 to 23 are H'),
        ('D' in letters and ('M' in letters or 'L' in letters), 'there is a day of the year (D) beside a month; a day of the month is d'),
        (not letters, "there is no letter of Spark's patterns; %%Y and the like are no such letters"),
    ]) -%}
    {{ return(reasons[0] if reasons else none) }}
{%- endmacro -%}


{#- Keys that mean nothing: most often a misspelt setting, which would be ignored in silence. -#}
{%- macro _unknown_key_problems(label, given, accepted) -%}
    {%- set problems = [] -%}
    {%- for key in given if key not in accepted -%}
        {%- set meant = spark_cdc._meant_by(key, accepted) -%}
        {%- do problems.append(label ~ " has the unknown key '" ~ key ~ "'; accepted are " ~ accepted | join(', ') ~ ': '
            ~ ('did you mean ' ~ meant ~ '?' if meant else 'correct or remove it')) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The guards that a run may skip: those with a limit, and what is refused without one. Returns a
    list of names. -#}
{%- macro _known_guards() -%}
    {{ return((spark_cdc._known_settings().entity.guards.settings | reject('in', ['min_rows', 'min_deleted']) | list)
        + ['failed_casts', 'null_keys', 'duplicate_keys', 'failed_rules', 'rules', 'tables', 'unexpected_columns',
           'unclosed_quotes', 'unescaped_quotes', 'blank_rows', 'malformed_text', 'complete_when']) }}
{%- endmacro -%}


{#- The name that a word is most likely a slip of: equal but for case, - and _, or but for a few
    neighbouring letters. Arguments: word, names.
    Returns one of the names, or none. -#}
{%- macro _meant_by(word, names) -%}
    {%- set given = word | string | lower | replace('-', '') | replace('_', '') | replace(' ', '') -%}
    {%- for name in names -%}
        {%- set known = name | replace('_', '') -%}
        {%- set same = namespace(front=0, back=0) -%}
        {%- set shorter = [given | length, known | length] | min -%}
        {%- for at in range(1, shorter + 1) if given[:at] == known[:at] -%}{%- set same.front = at -%}{%- endfor -%}
        {%- for at in range(1, shorter - same.front + 1) if given[-at:] == known[-at:] -%}{%- set same.back = at -%}{%- endfor -%}
        {%- set wrong, right = given[same.front:given | length - same.back], known[same.front:known | length - same.back] -%}
        {%- set letters = [wrong | length, right | length] | max -%}
        {%- if letters <= [1, known | length // 3] | max or (letters == 2 and wrong == right | reverse) -%}{{ return(name) }}{%- endif -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- Whether a text has a form that settings ask for: name (letters, digits and _, not beginning with
    a digit), plain_name (of lower-case letters, beginning with one), table (two or three names,
    with -), timezone, interval or year. -#}
{%- macro _has_form(text, form) -%}
    {%- set first, digits = text[:1], '0123456789' -%}
    {%- set is_name = text != '' and spark_cdc._has_only(text, '_') and first not in digits -%}
    {%- if form == 'name' -%}
        {{ return(is_name) }}
    {%- elif form == 'plain_name' -%}
        {{ return(is_name and text == text | lower and first != '_') }}
    {%- elif form == 'year' -%}
        {{ return(text | length == 4 and not text.strip(digits) and first != '0') }}
    {%- elif form == 'interval' -%}
        {%- set number = text[:-1] -%}
        {{ return(text in ['daily', 'hourly', 'weekly'] or (text[-1:] in 'mhdw' and 1 <= number | length <= 6 and not number.strip(digits) and first != '0')) }}
    {%- elif form == 'timezone' -%}
        {%- set offset, parts = text[1:].split(':'), text.split('/') -%}
        {%- set is_offset = first in ['+', '-'] and offset | map('length') | list == [2, 2] and not (offset | join).strip(digits) -%}
        {{ return(text == 'UTC' or is_offset or (parts | length > 1 and '' not in parts and spark_cdc._has_only(text, '_+-/')
            and not parts[0] | select('in', digits ~ '+-') | list)) }}
    {%- endif -%}
    {%- for part in text.split('.') -%}
        {%- if not spark_cdc._has_form(part.replace('-', 'a') if part[:1] != '-' else '', 'name') -%}{{ return(false) }}{%- endif -%}
    {%- endfor -%}
    {{ return(text.split('.') | length in [2, 3]) }}
{%- endmacro -%}


{#- Why a rule does not accept a value; none if it does. -#}
{%- macro _setting_error(label, value, rule) -%}
    {#- neither .nan nor .inf -#}
    {%- set is_number = value is number and value is not boolean and 0 <= value < 10 ** 15 -%}
    {%- set items = value if value is sequence and value is not string and value is not mapping else none -%}
    {%- set numbers = (items or []) | select('number') | reject('boolean') | list -%}
    {%- set accepted = rule.get('accepted', []) -%}
    {#- a kind, whether it is one, and what is accepted in words -#}
    {%- set is_accepted, words = {
        'any': (true, ''),
        'choice': (value in accepted, accepted | join(', ')),
        'form': (spark_cdc._has_form(value | string, rule.form) if rule.kind == 'form' else false, ''),
        'boolean': (value is boolean, 'true and false'),
        'number': (is_number, 'numbers from 0'),
        'days': (is_number and value is integer, 'whole numbers of days from 0'),
        'band': (items and items | length == 2 and numbers | length == 2 and 0 <= items[0] <= items[1],
                 'two numbers from 0, the lower first, such as [0.2, 5],'),
        'value': (value is string or value is number or value is boolean, 'texts, numbers, true and false (a date between quotes)'),
        'names': (value is string or (items is not none and not items | reject('string') | list), 'a name and a list of names'),
        'text': (value is string, ''),
        'state': ((value is string) or value.year is defined, 'a load and a date'),
        'mapping': (value is mapping, rule.get('settings', {}) | join(', ') ~ ' below it'),
    }[rule.kind] -%}
    {%- set words = rule.get('says') or words -%}
    {%- if is_accepted or (value is none and rule.get('null')) -%}
        {{ return(none) }}
    {%- elif rule.kind in ['text', 'mapping'] -%}
        {{ return(label ~ ' is not a ' ~ rule.kind ~ ': write ' ~ words) }}
    {%- endif -%}
    {%- set found = value if rule.kind in ['names', 'value'] else "'" ~ value ~ "'" -%}
    {%- set off = (' or' if rule.kind == 'band' else ' and') ~ ' null (off)' if rule.get('null') == 'off' else '' -%}
    {%- set meant = spark_cdc._meant_by(value, accepted) if rule.kind == 'choice' and value is string else none -%}
    {{ return(label ~ ' is ' ~ found ~ '; accepted are ' ~ words ~ off ~ ': '
        ~ ('did you mean ' ~ meant ~ '?' if meant else 'choose one of them' if rule.kind == 'choice' else 'correct it')) }}
{%- endmacro -%}


{#- What a table of rules finds wrong. Arguments: values (dictionary), rules (a list of (whether
    it is broken, the message, in which %(name)s stands for a value)). Returns the messages of
    broken ones, as a list of texts. -#}
{%- macro _failed_rules(values, rules) -%}
    {%- set problems = [] -%}
    {%- for is_broken, message in rules if is_broken -%}
        {#- dbt v2 formats no names -#}
        {%- set pieces = message.replace('%%', '%').split('%(') -%}
        {%- set text = [pieces[0]] -%}
        {%- for piece in pieces[1:] -%}
            {%- set name, rest = piece.split(')s', 1) -%}
            {%- do text.append(values[name] ~ rest) -%}
        {%- endfor -%}
        {%- do problems.append(text | join) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- That a model of an entity has no settings: misspelt in its `meta`, or its YAML entry has
    another name. Returns a list of texts. -#}
{%- macro _missing_settings_problems(node) -%}
    {%- if spark_cdc._settings_of(node) -%}{{ return([]) }}{%- endif -%}
    {%- set meta, config = spark_cdc._meta_of(node), node.get('config') or {} -%}
    {%- set found = [] -%}
    {%- for key in meta if spark_cdc._meant_by(key, ['spark_cdc']) -%}{%- do found.append("meta has '%s': %s" % (key, spark_cdc._shown_json(meta[key]))) -%}{%- endfor -%}
    {%- for key in config if spark_cdc._meant_by(key, ['spark_cdc']) -%}{%- do found.append("config has '%s'" % key) -%}{%- endfor -%}
    {{ return(['it has no settings: ' ~ (found | join(', ') or 'meta has no spark_cdc') ~ '; accepted is load_type, source and so on below '
        'config.meta.spark_cdc, in the YAML entry that has the name of the model: write them']) }}
{%- endmacro -%}


{#- What is wrong with the vars that hold settings of all entities. Argument: names (of vars;
    none for all). Returns a list of texts. -#}
{%- macro _var_problems(names=none) -%}
    {%- set rules = spark_cdc._known_settings().vars -%}
    {%- set given = {} -%}
    {%- for name in names or rules if var(name, none) is not none -%}{%- do given.update({name: var(name)}) -%}{%- endfor -%}
    {%- set problems = [] -%}
    {%- for problem in spark_cdc._setting_problems('the var ', given, rules) -%}{%- do problems.append(problem ~ '.') -%}{%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- A pattern of times without the parts between quotes, which stand for themselves. -#}
{%- macro _format_letters(format) -%}
    {{ return(format.split("'")[::2] | join) }}
{%- endmacro -%}


{#- Whether a pattern of times has a letter that stands for a zone. -#}
{%- macro _names_a_zone(format) -%}
    {{ return(spark_cdc._format_letters(format) | select('in', 'VzOXxZ') | list != []) }}
{%- endmacro -%}
