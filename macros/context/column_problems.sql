{#- What is wrong with the columns of an entity.
    columns   of _columns_of()
    settings  meta.spark_cdc
    is_load   whether all is judged that a load needs; names, types, roles and secrecy otherwise
    Returns a list of texts. -#}
{%- macro _column_problems(columns, settings, is_load=true) -%}
    {%- set known = spark_cdc._known_settings() -%}
    {%- set rules = known.column -%}
    {%- set is_events = settings.get('load_type') == 'events' -%}
    {%- set events = settings.get('events') -%}
    {%- set source = settings.get('source') or {} -%}
    {%- set facts = spark_cdc._source_facts(source) -%}
    {#- names in messages and JSON differ by case, those of columns do not -#}
    {%- set in_messages = is_events and events is mapping and spark_cdc._is_message_format(events.get('format')) -%}
    {%- set is_json = in_messages or facts.has_names -%}
    {%- set problems = [] -%}
    {%- set seen, origins, roles = {}, {}, [] -%}
    {%- set reserved = spark_cdc._reserved(columns | map(attribute='name') | map('lower') | list, is_events) -%}
    {%- for column in columns -%}
        {%- set name = column['name'] | string -%}
        {%- set label = "column '" ~ name ~ "'" -%}
        {%- set meta = column.meta -%}
        {%- set role = meta.get('role', rules.role.default) -%}
        {%- set data_type = (column.get('data_type') or '') | string | trim -%}
        {%- set is_seen = not is_load and data_type in known.plain_types -%}
        {%- set type = {'problem': none} if is_seen else spark_cdc._hash_type(data_type) -%}
        {%- set origin = meta.get('from', name) | string -%}
        {%- set origin = origin if is_json and not (in_messages and role == 'control') else origin | lower -%}
        {%- set values = {'label': label, 'name': name, 'role': role, 'seen': seen.get(name | lower),
                          'origin': origin, 'other': origins.get(origin), 'problem': type.problem} -%}
        {%- set checks = [
            (name | lower in reserved,
             '%(label)s has a name that spark_cdc uses for a column of its own: give it another name and say under meta `from: %(name)s`'),
            ('\n' in name or '\r' in name or name | length > 128,
             '%(label)s has a name that is too long or has a line break: rename it and give its name in the source under '
             'meta as `from`'),
            ('${' in name or '${' in meta.get('from', '') | string,
             '%(label)s has ${ in its name here or in the source, in the place of which Spark puts a setting: rename it in the source, or in '
             'a view on it that source.format: table reads'),
            (values.seen is not none,
             "%(label)s and column '%(seen)s' have names that differ at most by case, which Spark can't tell apart: rename one of them"),
            (values.other is not none and name | lower != values.other | lower,
             "%(label)s and column '%(other)s' both come from '%(origin)s' of the source: correct `from` of one of them"),
            (role is not string, '%(label)s has the roles %(role)s, but takes one: choose key, untracked, control or none'),
            (meta.get('null_means') == 'unchanged' and (not is_events or role in ['key', 'control']),
             '%(label)s says null_means: unchanged, which is for stored columns of change events (load_type: events) that are no key: remove it'),
            (role == 'key' and meta.get('nullable'), "%(label)s is a key and nullable: a key can't be null, remove one of them"),
            (not data_type, '%(label)s has no data_type: write one, such as string, bigint or decimal(10,2)'),
            (data_type and type.problem, '%(label)s: %(problem)s'),
        ] -%}
        {%- do problems.extend(spark_cdc._failed_rules(values, checks)) if checks | selectattr(0) | list -%}
        {%- set judged = meta if role is string else dict(meta, role='compared') -%}
        {%- do problems.extend(spark_cdc._setting_problems(label ~ ': ', judged, rules) if meta else []) -%}
        {%- do problems.extend(spark_cdc._column_type_problems(label, data_type, type, meta, rules, facts.has_header, is_json) if is_load else []) -%}
        {%- do seen.update({name | lower: name}) -%}
        {%- do origins.update({origin: name}) -%}
        {%- do roles.append(role) -%}
    {%- endfor -%}
    {{ return(
        problems
        + spark_cdc._key_role_problems(roles, settings)
        + spark_cdc._former_name_problems(columns, spark_cdc._names(settings.get('dropped_columns')))
        + (spark_cdc._cluster_problems(columns, spark_cdc._names(settings.get('cluster_by'))) if is_load else [])
        + spark_cdc._sensitive_problems(columns, settings)
    ) }}
{%- endmacro -%}


{#- What is wrong with the columns that identify a row: there are none, or there are some although
    rows are told apart by all columns (keyless). Arguments: roles (of all columns), settings. -#}
{%- macro _key_role_problems(roles, settings) -%}
    {%- set type, events = settings.get('load_type'), settings.get('events') if settings.get('events') is mapping else {} -%}
    {%- set sources = settings.get('sources') if settings.get('sources') is mapping else {} -%}
    {%- set keyless = settings.get('keyless') is true -%}
    {{ return(spark_cdc._failed_rules({
        'type': type, 'facts': '; of rows that are only ever inserted, events.insert_only: true' if type == 'events' else '',
        'way': '; a table without a key takes keyless: true (--keyless), which tells rows apart by all columns' if type not in ['delta', 'events'] else '',
    }, [
        ('key' not in roles and not keyless and not (type == 'events' and events.get('insert_only')),
         'no column has the role key: give `role: key` under meta (--key of spark-cdc new) to the columns that identify a row%(way)s'),
        (keyless and type in ['delta', 'events'],
         'keyless is true, but load_type is %(type)s, where a row has to name the one that it changes: give the columns that identify a row the role key, or set '
         'load_type: full%(facts)s'),
        (keyless and 'key' in roles,
         'keyless is true, which is for tables without a key, but a column has the role key: remove one of them'),
        (keyless and roles and 'compared' not in roles and 'key' not in roles,
         'keyless is true, but no column is compared, so that nothing tells rows apart: take the role away from the columns that do'),
        (keyless and settings.get('on_duplicate_key') == 'quarantine',
         'on_duplicate_key is quarantine, but keyless is true, where equal rows are counted and no key comes twice: remove it'),
        (keyless and 'delta' in sources,
         'sources.delta is given, but keyless is true, and a row of a delta has to name by a key the one that it changes: remove it'),
    ])) }}
{%- endmacro -%}


{#- What is wrong with the type of a column, and with what its meta says of values of this type. -#}
{%- macro _column_type_problems(label, data_type, type, meta, rules, is_csv, is_json) -%}
    {%- set plain = data_type | lower -%}
    {%- set kind = type.get('kind') -%}
    {%- set has_format = kind in ['date', 'timestamp', 'timestamp_ntz'] and meta.get('format') is not none -%}
    {%- set format = meta.get('format') | string -%}
    {%- set pattern = spark_cdc._pattern_problem(format) if has_format else none -%}
    {%- set is_short = has_format and 'yy' in spark_cdc._format_letters(format).replace('yyyyyy', '').replace('yyyyy', '').replace('yyyy', '').replace('yyy', '') -%}
    {%- set values = {'label': label, 'type': data_type, 'plain': plain, 'format': format, 'pattern': pattern} -%}
    {%- set problems = spark_cdc._failed_rules(values, [
        (is_short and meta.get('century') is none,
         "%(label)s has a year of two digits in its format, '%(format)s', which Spark would put into 2000 to 2099: say under meta `century: 1950` if "
         'it means 1950 to 2049, or another first year'),
        (meta.get('century') is not none and not is_short,
         '%(label)s has a century, but no year of two digits (yy) in a format of dates or timestamps: remove it'),
        (meta.get('century') is not none and is_short and spark_cdc._names_a_zone(format),
         "%(label)s has a century and a zone in its format, '%(format)s', which do not go together: have years of four digits delivered"),
        (is_csv and kind in ['array', 'struct', 'map'],
         "%(label)s has the type %(type)s, which CSV can't hold: declare it string, or land the data as json, parquet, orc or avro"),
        (is_json and 'map<' in spark_cdc._plain_type(data_type).replace('map<string,', ''),
         '%(label)s has the type %(type)s, but the names in an object of JSON are text: declare its keys string, map<string, ...>'),
        (meta.get('default') is not none and plain.startswith(('array', 'struct', 'map', 'binary')),
         '%(label)s has a default, but the type %(plain)s, which takes none: remove it'),
        (kind in rules.encoding.by_type and meta.get('format') is not none and meta.get('encoding') is not none,
         '%(label)s has a format and an encoding: a number since 1970 has no pattern, remove one of them'),
        (pattern is not none,
         "%(label)s has the format '%(format)s': %(pattern)s. Accepted are Spark's patterns such as dd.MM.yyyy and yyyy-MM-dd'T'HH:mm:ss, where "
         'other letters stand between quotes: correct it'),
        (kind in ['date', 'timestamp_ntz'] and meta.get('format') is not none and spark_cdc._names_a_zone(meta.format | string),
         '%(label)s has a zone in its format, but the type %(type)s, which knows none: declare it timestamp; a letter that is always the same stands '
         "between quotes, as in yyyy-MM-dd'Z'"),
    ]) -%}
    {%- set message = '%s has %s %s, but the type %s: %s, remove it' -%}
    {%- for article, name, key in [('a', 'format', plain), ('an', 'encoding', kind)] if key and meta.get(name) is not none -%}
        {%- set rule = rules[name] -%}
        {%- set accepted = rule.by_type.get(key) -%}
        {%- if key not in rule.by_type -%}
            {%- do problems.append(message % (label, article, name, plain, rule.says)) -%}
        {%- elif accepted -%}
            {%- do problems.extend(spark_cdc._setting_problems(label ~ ': ', meta, {name: {'kind': 'choice', 'accepted': accepted}})) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with the names that columns had (see docs/schema_change.md): with `renamed_from`,
    and with `dropped_columns` (a list of names). -#}
{%- macro _former_name_problems(columns, dropped) -%}
    {%- set problems = [] -%}
    {%- set declared = columns | map(attribute='name') | map('string') | map('lower') | list -%}
    {%- set taken = {} -%}
    {%- for column in columns -%}
        {%- set meta = column.meta -%}
        {%- for name in dropped if name | lower == column['name'] | string | lower and meta.get('role') != 'control' -%}
            {%- do problems.append("dropped_columns names '" ~ name ~ "', which is declared as a column: remove one of them") -%}
        {%- endfor -%}
        {%- for name in (spark_cdc._names(meta.renamed_from) if meta.get('renamed_from') is not none else []) -%}
            {%- set is_declared = name | lower in declared -%}
            {%- set other = taken.get(name | lower) -%}
            {%- do problems.extend(spark_cdc._failed_rules({'column': column['name'], 'name': name, 'other': other}, [
                (is_declared, "column '%(column)s' was '%(name)s', which is declared as a column: once a load has brought the new name, remove "
                 '`renamed_from`; to exchange names, rename in two steps, with a load in between'),
                (other is not none and not is_declared,
                 "column '%(column)s' and column '%(other)s' both were '%(name)s': correct `renamed_from` of one of them"),
                (name | lower in dropped | map('lower') and not is_declared and other is none,
                 "column '%(column)s' was '%(name)s', which is named as dropped: remove one of them"),
            ])) -%}
            {%- do taken.update({name | lower: column['name']}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What looks like a setting of a column and has no effect: keys of its meta that are a slip of
    one, roles written as keys, and settings that stand beside meta. Other keys of meta are the
    user's own. Arguments: name (of the entity), node. Returns a list of texts. -#}
{%- macro _column_warnings(name, node) -%}
    {%- set known = spark_cdc._known_settings().column | list -%}
    {%- set instead = {'key': 'role: key', 'untracked': 'role: untracked', 'control': 'role: control', 'required': 'nullable: false', 'spark_cdc': 'its keys directly',
                       'pseudonym_domain': 'pseudonymize: DOMAIN'} -%}
    {%- set found, meant = {}, {} -%}
    {%- for column in spark_cdc._columns_of(node) -%}
        {%- set meta = column.meta -%}
        {%- for key in meta | map('string') if key not in known -%}
            {%- if key not in meant -%}{%- do meant.update({key: instead.get(key | lower) or spark_cdc._meant_by(key, known)}) -%}{%- endif -%}
            {%- if meant[key] is not none -%}{%- do found.setdefault('meta has the key %s' % key, [meant[key]]).append(column.name) -%}{%- endif -%}
        {%- endfor -%}
        {%- for key in column if key in known and key not in meta -%}
            {%- do found.setdefault('%s stands beside meta' % key, [key]).append(column.name) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set warnings = [] -%}
    {%- for what, columns in found.items() -%}
        {%- do warnings.append('%s: %s of column %s, which has no effect. Write %s under meta, or give the key another name (in the YAML of stg_%s).'
            % (name, what, columns[1:] | join(', '), columns[0], name)) -%}
    {%- endfor -%}
    {{ return(warnings) }}
{%- endmacro -%}
