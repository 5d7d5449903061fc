{#- What is wrong with an entity's configuration. Returns a list of texts, each of which names
    the entity, what was found, what is accepted and what to do. -#}
{%- macro _entity_problems(name, node) -%}
    {{ return(spark_cdc._in_yaml(name, spark_cdc._description_problems(name, node))) }}
{%- endmacro -%}


{#- Problems of an entity, with where they are. -#}
{%- macro _in_yaml(name, problems) -%}
    {%- set named = [] -%}
    {%- for problem in problems -%}{%- do named.append(name ~ ': ' ~ problem ~ ' (in the YAML of stg_' ~ name ~ ').') -%}{%- endfor -%}
    {{ return(named) }}
{%- endmacro -%}


{#- The same without saying where. -#}
{%- macro _description_problems(name, node) -%}
    {%- set settings = spark_cdc._settings_of(node) -%}
    {%- set rules = spark_cdc._known_settings().entity -%}
    {%- set missing = spark_cdc._missing_settings_problems(node) -%}
    {%- if missing -%}{{ return(missing) }}{%- endif -%}
    {%- set policy = spark_cdc._policy('maintenance', settings, spark_cdc._known_settings()) if settings.get('maintenance') is mapping else {} -%}
    {#- which is said elsewhere -#}
    {%- set is_misfit = policy.values() | reject('none') | reject('number') | list -%}
    {%- set policy_rules = [] if not policy or is_misfit else [
        (policy.compact_loads is not none and policy.compact_loads < 5,
         'maintenance.compact_loads is %(compact_loads)s; accepted are numbers from 5 and null (off): the older half of so many loads is compacted, and two '
         'loads take its place'),
        (policy.retention_hours is not none and policy.retention_hours < 24,
         'maintenance.retention_hours is %(retention_hours)s; accepted are numbers from 24 and null (off): a query that is running, and a load that is being '
         'written, are safe only while they are younger than that'),
    ] -%}
    {{ return((
        spark_cdc._entity_name_problems(name)
        + spark_cdc._unknown_key_problems('meta.spark_cdc', settings, rules | list)
        + spark_cdc._setting_problems('', settings, rules, settings.get('load_type'))
        + spark_cdc._source_problems(settings.get('source') or {}, settings.get('load_type'))
        + spark_cdc._sources_problems(node, settings)
        + spark_cdc._read_model_problems(node)
        + spark_cdc._added_problems(name, node)
        + spark_cdc._archive_input_problems(name, node, settings)
        + spark_cdc._validity_problems(node, settings)
        + spark_cdc._rules_problems(settings)
        + spark_cdc._change_feed_problems(settings)
        + spark_cdc._stream_problems(settings)
        + spark_cdc._column_problems(spark_cdc._columns_of(node), settings)
        + spark_cdc._numbers_problems(spark_cdc._columns_of(node), settings.get('source') or {}, 'source.', settings.get('load_type') == 'events'
            and spark_cdc._is_message_format((settings.get('events') if settings.get('events') is mapping else {}).get('format')))
        + spark_cdc._event_problems(node, settings)
        + spark_cdc._table_format_problems(spark_cdc._columns_of(node), settings)
        + (spark_cdc._failed_rules(policy, policy_rules) if policy_rules else [])
    ) | unique | list) }}
{%- endmacro -%}


{#- Why loads of an entity may not add columns. -#}
{%- macro _added_problems(name, node) -%}
    {%- if not spark_cdc._adds_columns(node) -%}{{ return([]) }}{%- endif -%}
    {{ return(spark_cdc._failed_rules({'name': name}, [
        (spark_cdc._has_sensitive(spark_cdc._columns_of(node)),
         'source.on_unexpected_column is add, but the entity has sensitive columns, and a column that nobody has looked at would be there for everybody: '
         'set it to error or ignore'),
        (not spark_cdc._is_plainly_staged(name),
         'source.on_unexpected_column is add, but stg_%(name)s is more than a call of spark_cdc.stage(), which names its columns: set it to error or ignore'),
    ])) }}
{%- endmacro -%}


{#- What is wrong with the name of an entity. -#}
{%- macro _entity_name_problems(name) -%}
    {{ return(spark_cdc._failed_rules({'name': name}, [
        (not spark_cdc._has_form(name, 'plain_name'),
         "the entity's name is not plain: rename stg_%(name)s to lower-case letters, digits and _, beginning with a letter"),
        (name | length > 80,
         "the entity's name has more than 80 characters: rename stg_%(name)s to a shorter one, for its tables and views are named after it"),
    ])) }}
{%- endmacro -%}


{#- What stands behind `business_date` in each place of a path that it fills, such as :%Y/%m/%d, or
    an empty text. -#}
{%- macro _dates_in(path) -%}
    {%- set forms = [] -%}
    {%- for part in path.split('{business_date')[1:] if part.split('}')[0] != part and '{' not in part.split('}')[0] and part[0] in ':}' -%}
        {%- do forms.append(part.split('}')[0]) -%}
    {%- endfor -%}
    {{ return(forms) }}
{%- endmacro -%}


{#- What is wrong with `source`, beyond what its rules say. Argument: load_type (of what is read
    from it). -#}
{%- macro _source_problems(source, load_type) -%}
    {%- if source is not mapping -%}{{ return([]) }}{%- endif -%}  {#- reported -#}
    {%- set path = (source.get('path') or '') | string -%}
    {%- set facts, dates = spark_cdc._source_facts(source), spark_cdc._dates_in(path) -%}
    {%- set problems = spark_cdc._failed_rules({'path': path, 'type': load_type}, [
        (spark_cdc._reads_whole_table(source) and load_type != 'full',
         'source.format is table, but source.date_column is missing: name the column that holds the business date. Without it a load reads '
         'all present rows, which is for load_type: full, not %(type)s'),
        (facts.reads == 'files' and not dates,
         "source.path is '%(path)s', without a business date: write where a date's files lie, such as landing/orders/{business_date} or "
         'landing/orders/{business_date:%%Y/%%m/%%d}'),
    ]) -%}
    {%- do problems.extend(spark_cdc._relative_path_problems(path) if facts.reads == 'files' else []) -%}
    {%- set given = {} -%}
    {%- for option, value in (source.options if source.get('options') is mapping else {}).items() -%}
        {%- do given.update({option | string | lower: value | string}) -%}
    {%- endfor -%}
    {%- set encoding = given.get('encoding', given.get('charset', '')) -%}
    {%- if facts.is_text and spark_cdc._is_wide_encoding(encoding) -%}
        {%- do problems.extend(spark_cdc._failed_rules({'encoding': encoding}, [
            (facts.has_names, "source.options.encoding is '%(encoding)s', but JSON is read as UTF-8: convert the files"),
            (facts.has_header and given.get('multiline') | lower != 'true',
             "source.options.encoding is '%(encoding)s', of which Spark takes lines apart byte by byte, within characters: set "
             'source.options.multiLine: true as well'),
        ])) -%}
    {%- endif -%}
    {%- for form in dates if form and '%' not in form -%}
        {%- do problems.append("source.path is '%s', in which '%s' stands for the same folder on all dates: write codes of strftime, such as "
            '{business_date:%%Y/%%m/%%d}' % (path, form[1:])) -%}
    {%- endfor -%}
    {%- for option, value in (source.options if source.get('options') is mapping else {}).items() if option | string | lower == 'linesep' and value in ['', none] -%}
        {%- do problems.append("source.options." ~ option ~ " is empty, for dbt drops line breaks at the end of a text: write them between single quotes, such as '\\n' or '\\r\\n'") -%}
    {%- endfor -%}
    {%- do problems.extend(spark_cdc._marker_problems(source)) -%}
    {%- set own = ['path', 'mode', 'inferschema', 'enforceschema', 'columnnameofcorruptrecord', 'recursivefilelookup', 'ignorecorruptfiles',
                   'ignoremissingfiles'] -%}
    {%- set message = "source.options has '%s', which spark_cdc sets itself or which is no option of a Spark reader: remove it" -%}
    {%- for option in (source.options if source.get('options') is mapping else []) | map('string')
            if option | lower in own or not spark_cdc._has_only(option, '_.') or option[:1] in '._0123456789' -%}
        {%- do problems.append(message % option) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- Why loads of an entity can't keep what they read (archive_input). -#}
{%- macro _archive_input_problems(name, node, settings) -%}
    {%- if settings.get('archive_input') is not true -%}{{ return([]) }}{%- endif -%}
    {%- set whole = [] -%}
    {%- for source in [settings.get('source')] + (settings.sources.values() | list if settings.get('sources') is mapping else [])
            if spark_cdc._reads_whole_table(source) -%}{%- do whole.append(source) -%}{%- endfor -%}
    {{ return(spark_cdc._failed_rules({'name': name}, [
        (graph.nodes.values() | selectattr('name', 'equalto', name ~ '_kept_input') | list,
         'archive_input is true, but a model has the name of the table %(name)s_kept_input that keeps the rows: rename the model'),
        (not whole, 'archive_input is true, but only a full load of a table without source.date_column reads what is gone afterwards; files and dates stay in '
         'the source: remove it'),
        (spark_cdc._has_sensitive(spark_cdc._columns_of(node)),
         'archive_input is true, but the entity has sensitive columns, and what is kept are rows as they came, without masks and beyond the reach of erase: '
         'remove it (and drop %(name)s_kept_input if it is there), or let a model keep dated rows, which stage() reads by source.date_column'),
    ])) }}
{%- endmacro -%}


{#- What is wrong with the names and the open end of validity, the project's own among them. -#}
{%- macro _validity_problems(node, settings) -%}
    {%- set given = [settings.get('validity') or {}, spark_cdc._var('spark_cdc_validity') or {}] -%}
    {#- what is no mapping is reported elsewhere -#}
    {%- if given | reject('mapping') | list or given == [{}, {}] -%}{{ return([]) }}{%- endif -%}
    {%- set validity = spark_cdc._policy('validity', settings, spark_cdc._known_settings()) -%}
    {%- set names, taken = [], [] -%}
    {%- for part in ['start', 'end', 'current'] -%}{%- do names.append(validity[part] | string | lower) -%}{%- endfor -%}
    {%- for column in spark_cdc._columns_of(node) if column.meta.get('role') != 'control' -%}
        {%- do taken.append(column['name'] | string | lower) -%}
    {%- endfor -%}
    {%- if settings.get('load_type') == 'events' -%}
        {%- do taken.extend(['event_op', 'event_position', 'event_end_position', 'event_transaction', 'business_date', 'load_id', 'known_from', 'known_to']) -%}
        {#- and what the other end is called in event_versions and bitemporal -#}
        {%- for own in ([] if names[0] in ['event_time', 'valid_from'] else ['event_time', 'valid_from'])
                + ([] if names[1] in ['event_end_time', 'valid_to'] else ['event_end_time', 'valid_to']) -%}{%- do taken.append(own) -%}{%- endfor -%}
    {%- endif -%}
    {%- set both = names | select('in', taken + ['key_hash', 'nonkey_hash', 'operation']) | list -%}
    {{ return(spark_cdc._failed_rules({'names': both | join(', '), 'given': names | join(', '), 'end': validity.open_end}, [
        (both, 'validity names %(names)s, which is a column already: choose another name'),
        (names | unique | list | length < 3, 'validity names its columns %(given)s: give each a name of its own'),
        (validity.open_end is not none and spark_cdc._business_time(validity.open_end) is none,
         "validity.open_end is '%(end)s'; accepted are null and a date such as 9999-12-31: correct it"),
    ])) }}
{%- endmacro -%}


{#- A model that staging reads as a table has to be one, or a view. -#}
{%- macro _read_model_problems(node) -%}
    {%- set problems = [] -%}
    {%- for unique_id in (node.get('depends_on') or {}).get('nodes', []) if unique_id in graph.nodes -%}
        {%- set read = graph.nodes[unique_id] -%}
        {%- do problems.append('stage() reads the model ' ~ read.name ~ ', which is ephemeral: materialize it as a view or a table')
            if read.config.materialized == 'ephemeral' -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with `source.complete_when`. -#}
{%- macro _marker_problems(source) -%}
    {%- set given = source.get('complete_when') -%}
    {%- if given is not string -%}{{ return([]) }}{%- endif -%}  {#- reported -#}
    {%- set rest = namespace(text=given.replace('{file}', '')) -%}
    {%- for form in spark_cdc._dates_in(given) -%}{%- set rest.text = rest.text.replace('{business_date' ~ form ~ '}', '') -%}{%- endfor -%}
    {{ return(spark_cdc._failed_rules({'given': given}, [
        (spark_cdc._source_facts(source).reads == 'table', 'source.complete_when is given, but source.format is table, which has no files: remove it'),
        (source.get('stream') is mapping, 'source.complete_when is given, but spark-cdc stream closes business times by itself: remove it'),
        (rest.text | select('in', '/*?[]{},\\') | list or given | trim in ['', '{file}'],
         "source.complete_when is '%(given)s'; accepted is the name of a marker in the folder of the files, without wildcards, in which {file} stands for "
         "the name of each file: _SUCCESS, '{file}.done' or 'orders_{business_date}.done'"),
    ])) }}
{%- endmacro -%}


{#- The same of the sources of other load types, which a run may have. -#}
{%- macro _sources_problems(node, settings) -%}
    {%- set sources = settings.get('sources') if settings.get('sources') is mapping else {} -%}
    {%- set names = spark_cdc._columns_of(node) | map(attribute='name') | list -%}
    {%- set problems = [] -%}
    {%- for type, source in sources.items() if source is mapping -%}
        {%- set found = spark_cdc._source_problems(source, type) + spark_cdc._numbers_problems(spark_cdc._columns_of(node), source, 'source.', false) -%}
        {%- do problems.extend(found | map('replace', 'source.', 'sources.' ~ type ~ '.')) -%}
        {%- for name in (source.get('columns') or {} if source.get('columns') is mapping else []) if name not in names -%}
            {%- do problems.append("sources." ~ type ~ ".columns names '" ~ name ~ "', which is no column of the entity: correct the name") -%}
        {%- endfor -%}
        {%- do problems.extend(spark_cdc._failed_rules({'type': type}, [
            (type == settings.get('load_type'), "sources.%(type)s is given, but that is the entity's own load_type: write it below source"),
            (type == 'delta' and settings.get('load_type') == 'events',
             'sources.delta is given, but an entity of change events takes full snapshots only: remove it'),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with the columns by which files are laid out. -#}
{%- macro _cluster_problems(columns, names) -%}
    {%- set accepted, unordered = [], [] -%}
    {%- for column in columns if column.meta.get('role') != 'control' -%}
        {%- set type = (column.get('data_type') or '') | string | trim | lower -%}
        {%- do (unordered if type.startswith(('array', 'struct', 'map', 'binary')) else accepted).append(column['name'] | lower) -%}
    {%- endfor -%}
    {%- set problems = [] -%}
    {%- for name in names if name | lower not in accepted -%}
        {%- do problems.append("cluster_by names '" ~ name ~ "', which is " ~ ('of a type without an order that files know'
            if name | lower in unordered else 'no column that is stored') ~ '; accepted are ' ~ accepted | join(', ')) -%}
    {%- endfor -%}
    {%- if names | length > 4 or names | map('lower') | unique | list | length < names | length -%}
        {%- do problems.append('cluster_by is ' ~ names | join(', ') ~ '; accepted are 1 to 4 columns, each once: with more of them none is worth much') -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with the settings of a change-event entity. Returns a list of texts. -#}
{%- macro _event_problems(node, settings) -%}
    {%- set given = settings.get('events') -%}
    {%- if settings.get('load_type') != 'events' -%}
        {{ return([] if given is none else [
            'events is given, but load_type is ' ~ settings.get('load_type') ~ ': remove it, or set load_type: events'
        ]) }}
    {%- elif given is not mapping or not given.get('format') -%}
        {{ return(['events.format is missing: name the format of the events, one of ' ~ spark_cdc._event_formats() | join(', ')]) }}
    {%- elif not spark_cdc._adapter(given.format) or given.format == 'full_snapshot' -%}
        {%- set message = "events.format is '%s', and there is no macro events_%s; accepted are %s, or a format of your own: write that macro "
                          '(see docs/events.md)' -%}
        {{ return([message % (given.format, given.format, spark_cdc._event_formats() | join(', '))]) }}
    {%- endif -%}

    {%- set about = spark_cdc._adapter_format(given.format) -%}
    {%- set rules = dict(spark_cdc._known_settings().events) -%}
    {%- for name, accepted in about.settings.items() -%}
        {%- set is_choice = accepted and accepted is not string -%}
        {%- set rule = {'kind': 'choice', 'accepted': accepted} if is_choice else {'kind': 'any'} -%}
        {%- do rules.update({name: {'kind': 'names', 'null': true} if name == 'table' and about.origin else rule}) -%}
    {%- endfor -%}
    {%- set problems = spark_cdc._unknown_key_problems('events', given, rules | list) -%}
    {%- do problems.extend(spark_cdc._setting_problems('events.', given, rules)) -%}

    {%- set columns = spark_cdc._described_columns(node) -%}
    {%- set known = columns | map(attribute='name') | map('lower') | list -%}
    {%- set named = [('order', given.get('order')), ('tie_breaker', given.get('tie_breaker'))] -%}
    {%- for names in given.get('unique_keys') or [] -%}{%- do named.append(('unique_keys', names)) -%}{%- endfor -%}
    {%- set message = "events.%s names '%s', which is no column of the entity: declare it (with `role: control` if it is not to be stored) or "
                      'correct the name' -%}
    {%- for setting, names in named -%}
        {%- for name in spark_cdc._names(names) if name | lower not in known -%}{%- do problems.append(message % (setting, name)) -%}{%- endfor -%}
        {%- if setting != 'unique_keys' -%}
            {%- do problems.extend(spark_cdc._order_type_problems('events.' ~ setting, spark_cdc._columns_by_name(columns, names))) -%}
        {%- endif -%}
    {%- endfor -%}

    {%- set source = settings.get('source') or {} -%}
    {%- set is_csv = source is mapping and spark_cdc._source_facts(source).has_header -%}
    {%- do problems.extend(spark_cdc._failed_rules({'format': given.format, 'setting': 'order_fields' if 'order_fields' in rules else 'tie_breaker'}, [
        (given.get('unique_keys') and 'key' not in columns | map(attribute='role'),
         'events.unique_keys is given, but no column has the role key: remove it, or give the role'),
        (is_csv and spark_cdc._is_message_format(given.format),
         'source.format is csv, but events of the format %(format)s are JSON documents: set it to json, or to parquet, orc, avro or table where '
         'they lie in a column `value`'),
        (given.get('order') and about.has_order,
         'events.order is given, but the format %(format)s has an order of its own: remove it, or name what is to be added to that order under '
         'events.%(setting)s'),
    ])) -%}
    {#- the format's own check reads the settings as they will be used, so they have to be whole -#}
    {%- if not problems and [source, settings.get('checkpoint') or {}, settings.get('guards') or {}] | reject('mapping') | list == [] -%}
        {%- do problems.extend(spark_cdc._adapter_problems(spark_cdc._described_entity(node.name[4:], node, as_declared=true))) -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with the settings of an entity that reads the change feed of a table, or with
    those of such a feed elsewhere. Returns a list of texts. -#}
{%- macro _change_feed_problems(settings) -%}
    {%- set source = settings.get('source') if settings.get('source') is mapping else {} -%}
    {%- set sources = settings.get('sources') if settings.get('sources') is mapping else {} -%}
    {%- set events = settings.get('events') if settings.get('events') is mapping else {} -%}
    {%- set problems = [] -%}
    {%- for label, place in [('source', source), ('sources.full', sources.get('full')), ('sources.delta', sources.get('delta'))] if place is mapping -%}
        {%- do problems.extend(spark_cdc._failed_rules({'label': label, 'format': spark_cdc._source_format(place)}, [
            (place.get('table') and spark_cdc._source_facts(place).reads != 'feed',
             "%(label)s.table is given, but %(label)s.format is '%(format)s': set it to change_feed to read the change feed of a Delta or Iceberg table, or "
             'remove table'),
            (label != 'source' and spark_cdc._source_facts(place).reads == 'feed',
             '%(label)s.format is change_feed, which is for `source` only: a full snapshot of such an entity is read from its table without sources '
             '(docs/source_feeds.md); remove it'),
        ])) -%}
    {%- endfor -%}
    {%- if spark_cdc._source_facts(source).reads != 'feed' -%}{{ return(problems) }}{%- endif -%}
    {%- for name in ['path', 'date_column', 'options', 'text', 'complete_when', 'on_no_files'] if source.get(name) -%}
        {%- do problems.append('source.' ~ name ~ ' is given, but source.format is change_feed, whose table is all that is read: remove it') -%}
    {%- endfor -%}
    {%- set format, formats = events.get('format'), [] -%}
    {%- for one in spark_cdc._event_formats() if spark_cdc._adapter_format(one).feed -%}{%- do formats.append(one) -%}{%- endfor -%}
    {{ return(problems + spark_cdc._failed_rules({'type': settings.get('load_type'), 'format': format, 'formats': formats | join(', ')}, [
        (settings.get('load_type') in ['full', 'delta'],
         'source.format is change_feed, but load_type is %(type)s: set load_type: events and events.format, one of %(formats)s'),
        (settings.get('load_type') == 'events' and format and format not in formats,
         "source.format is change_feed, but events.format is '%(format)s', of which no table has a feed; accepted are %(formats)s: choose that of the table"),
        (sources, 'sources is given, but source.format is change_feed, and full snapshots are read from the same table: remove it'),
        (settings.get('expected_every'), 'expected_every is given, but source.format is change_feed, which has no dates of its own that could be missing: remove it'),
        (events.get('order') and format == 'iceberg_changelog',
         'events.order is given, but source.format is change_feed, where a snapshot follows on the last one that was read: remove it'),
    ])) }}
{%- endmacro -%}


{#- What is wrong with columns that are to give an order. Returns a list of texts. -#}
{%- macro _order_type_problems(label, columns) -%}
    {%- set problems = [] -%}
    {%- set accepted = ['tinyint', 'smallint', 'int', 'integer', 'bigint', 'date', 'timestamp', 'timestamp_ntz'] -%}
    {%- set message = "%s names the column '%s', which is %s; accepted are whole numbers, decimals with up to 18 digits behind the point, date, "
                      'timestamp and timestamp_ntz, since text does not sort as numbers do: declare the column with the type of what it holds' -%}
    {%- for column in columns | rejectattr('data_type', 'in', accepted)
            if not column.data_type.startswith('decimal') or spark_cdc._decimal_digits(column.data_type)[1] > 18 -%}
        {%- do problems.append(message % (label, column.name, column.data_type)) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What to do about different events of a key at one position, in words. -#}
{%- macro _tie_advice(entity) -%}
name a tie_breaker
{{- ', or add to events.order_fields what tells them apart, such as the offset of the topic' if 'order_fields' in spark_cdc._adapter_format(entity.events.format).settings }}
{%- endmacro -%}


{#- What is wrong with sensitive columns and their masks (docs/sensitive.md): a mask that does not
    fit, and settings by which values would come to where everybody may read: into positions, the
    order of rows in files, the text of statements.
    Arguments: columns (of the YAML), settings (meta.spark_cdc). Returns a list of texts. -#}
{%- macro _sensitive_problems(columns, settings) -%}
    {%- set own = ['sensitive', 'mask', 'pseudonymize'] -%}
    {%- if not columns | map(attribute='meta') | map('list') | sum(start=[]) | select('in', own) | list -%}{{ return([]) }}{%- endif -%}
    {%- set rule = spark_cdc._known_settings().column.mask -%}
    {%- set events = settings.get('events') if settings.get('events') is mapping else {} -%}
    {%- set ordering = (spark_cdc._names(events.get('order')) + spark_cdc._names(events.get('tie_breaker'))) | map('lower') | list -%}
    {%- set clustering = spark_cdc._names(settings.get('cluster_by')) | map('lower') | list -%}
    {%- set format = settings.get('file_format') or spark_cdc._file_format_of_vars() -%}
    {%- set condition = (settings.get('deleted_when') or '') | string | lower -%}
    {%- set words = namespace(of=condition) -%}
    {%- for sign in condition | unique if not spark_cdc._has_only(sign, '_') -%}{%- set words.of = words.of.replace(sign, ' ') -%}{%- endfor -%}
    {%- set problems, sensitive = [], [] -%}
    {%- for column in columns if own | select('in', column.meta) | list -%}
        {%- set name, meta = column['name'] | string, column.meta -%}
        {%- set is_sensitive, mask, pseudonym = meta.get('sensitive') is true, meta.get('mask'), meta.get('pseudonymize') -%}
        {%- set type = spark_cdc._plain_type((column.get('data_type') or '') | string) -%}
        {%- set fitting = rule.by_type.get(mask) -%}
        {%- do sensitive.append(name) if is_sensitive -%}
        {%- do problems.extend(spark_cdc._failed_rules({'name': name, 'type': type, 'mask': mask, 'pseudonym': pseudonym, 'fitting': (fitting or []) | join(', ')}, [
            (mask is not none and not is_sensitive,
             "column '%(name)s' has a mask, but is not sensitive: say `sensitive: true` beside it, or remove it"),
            (is_sensitive and fitting and type not in fitting,
             "column '%(name)s' has mask: %(mask)s, but the type %(type)s; accepted with it are %(fitting)s: take mask: none, which shows null, or "
             'one that fits'),
            (pseudonym and not (is_sensitive and meta.get('role') == 'key' and type == 'string'),
             "column '%(name)s' says pseudonymize, which is for sensitive keys of type string: say `sensitive: true` beside it and declare it a string, or "
             'remove it'),
            (pseudonym and mask is not none,
             "column '%(name)s' has mask: %(mask)s and says pseudonymize, which is a mask, too: remove one of them"),
            (pseudonym is string and pseudonym | lower in ['true', 'false'],
             "column '%(name)s' has pseudonymize: '%(pseudonym)s', a text: write it without quotes, or the name of a domain such as customer"),
            (is_sensitive and meta.get('role') == 'control',
             "column '%(name)s' is sensitive and control: it is not stored, and what is rejected lies apart in any case; remove sensitive"),
            (is_sensitive and meta.get('default') is not none,
             "column '%(name)s' is sensitive and has a default, which would stand in the text of views: remove the default"),
            (is_sensitive and name | lower in ordering,
             "column '%(name)s' is sensitive and gives events their order, so that their positions would show it: order them by another column"),
            (is_sensitive and name | lower in clustering,
             "column '%(name)s' is sensitive and in cluster_by, so that the order of rows would tell it: cluster by another column"),
            (is_sensitive and name | lower in (words.of.split() if spark_cdc._has_only(name, '_') else condition),
             "column '%(name)s' is sensitive and in deleted_when, whose text stands in statements and logs: tell deletes by another column"),
        ])) -%}
    {%- endfor -%}
    {{ return(problems + spark_cdc._failed_rules({'names': sensitive | join(', '), 'format': format}, [
        (sensitive and spark_cdc._table_facts(format).has_log,
         'file_format is %(format)s, but there are sensitive columns (%(names)s), which are not supported in tables of Delta and Iceberg yet: set '
         'file_format: parquet or orc'),
    ])) }}
{%- endmacro -%}


{#- What is wrong with `source.stream`, by which spark-cdc stream fills the landing of an entity.
    Returns a list of texts. -#}
{%- macro _stream_problems(settings) -%}
    {%- set source = settings.get('source') if settings.get('source') is mapping else {} -%}
    {%- set sources = settings.get('sources') if settings.get('sources') is mapping else {} -%}
    {%- set problems = [] -%}
    {%- for type, other in sources.items() if other is mapping and other.get('stream') is not none and 'stream' in other -%}
        {%- do problems.append('sources.' ~ type ~ '.stream is given, but only change events are streamed, into source: remove it') -%}
    {%- endfor -%}
    {%- set stream = source.get('stream') -%}
    {%- if stream is not mapping -%}{{ return(problems) }}{%- endif -%}
    {%- set events = settings.get('events') if settings.get('events') is mapping else {} -%}
    {%- set given = ['topic', 'pattern', 'files'] | select('in', stream) | list -%}
    {%- set path = (source.get('path') or '') | string -%}
    {%- set fixed = namespace(path=path) -%}
    {%- for form in spark_cdc._dates_in(path) -%}{%- set fixed.path = fixed.path.replace('{business_date' ~ form ~ '}', '') -%}{%- endfor -%}
    {{ return(problems + spark_cdc._failed_rules({
        'type': settings.get('load_type'), 'format': spark_cdc._source_format(source), 'events': events.get('format'), 'path': path, 'given': given | join(', '),
    }, [
        (settings.get('load_type') in ['full', 'delta'],
         'source.stream is given, but load_type is %(type)s: messages are change events; set load_type: events, or remove stream'),
        (events.get('format') and spark_cdc._adapter(events.format) and not spark_cdc._is_message_format(events.format),
         'source.stream is given, but events of the format %(events)s are rows with columns of their own, not messages: choose another format, or '
         'remove stream'),
        (not spark_cdc._source_facts(source).is_streamed, "source.stream is given, but source.format is '%(format)s': what is streamed lands as parquet"),
        (given | length > 1, 'source.stream has %(given)s; accepted is one of them: remove the others'),
        (fixed.path | select('in', '*?{}[') | list or '/' not in path.split('{business_date')[0],
         "source.path is '%(path)s'; for source.stream accepted is one folder of each business date, below one of the entity's own, such as "
         'landing/orders/{business_date}'),
    ])) }}
{%- endmacro -%}
