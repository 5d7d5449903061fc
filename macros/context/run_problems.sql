{#- What is wrong with the vars of a run that loads. Arguments: loads (the entities that are loaded:
    (name, settings as they were written)).
    Returns a list of texts. -#}
{%- macro _run_problems(loads) -%}
    {%- set names = loads | map('first') | list -%}
    {%- set reset = spark_cdc._listed('spark_cdc_reset') -%}
    {{ return(
        spark_cdc._business_date_problems(loads)
        + spark_cdc._load_type_problems(loads)
        + spark_cdc._named_entity_problems('spark_cdc_reset', names)
        + spark_cdc._failed_rules({'reset': reset | join(', ')}, [
            (reset and not flags.FULL_REFRESH,
             'spark_cdc_reset is given without --full-refresh. To start the ledger of %(reset)s anew give both; else leave the var out.'),
        ])
        + spark_cdc._skipped_guard_problems(var('spark_cdc_skip_guards', none) or [], names)
        + spark_cdc._replay_problems(var('spark_cdc_replay', none), loads)
        + spark_cdc._named_entity_problems('spark_cdc_rekey', names)
    ) }}
{%- endmacro -%}


{#- A var that lists entities names those of the run only. -#}
{%- macro _named_entity_problems(var_name, names) -%}
    {%- set problems = [] -%}
    {%- set message = "%s names '%s', which is no entity of this run (%s). Name entities that are loaded, or leave the var out." -%}
    {%- for name in spark_cdc._listed(var_name) | reject('in', names) -%}
        {%- do problems.append(message % (var_name, name, names | join(', '))) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The var spark_cdc_skip_guards may name guards with a limit, and what is refused without one;
    alone, or behind an entity of the run. -#}
{%- macro _skipped_guard_problems(given, names) -%}
    {%- if given is mapping or given is not sequence -%}
        {{ return(["the var spark_cdc_skip_guards is '" ~ given ~ "'; accepted are a guard and a list of guards, such as [orders.deleted_share]: "
            ~ 'correct it.']) }}
    {%- endif -%}
    {%- set accepted = spark_cdc._known_guards() -%}
    {%- set problems = [] -%}
    {%- for given_guard in spark_cdc._names(given) -%}
        {%- set entity, guard = given_guard.rsplit('.', 1) if '.' in given_guard else ('', given_guard) -%}
        {%- set is_guard = guard in accepted and '.' not in entity -%}
        {%- set values = {'given_guard': given_guard, 'entity': entity, 'accepted': accepted | join(', '), 'names': names | join(', ')} -%}
        {%- do problems.extend(spark_cdc._failed_rules(values, [
            (not is_guard,
             "spark_cdc_skip_guards names '%(given_guard)s', which is no guard. Accepted are %(accepted)s, alone or behind an entity (orders.deleted_share)."),
            (is_guard and '.' in given_guard and entity not in names,
             "spark_cdc_skip_guards names '%(given_guard)s', but '%(entity)s' is no entity of this run (%(names)s). Name one that is loaded, or the guard alone."),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with a run without a business date: one that has to have it, one that gives an
    empty one, which a script may have meant to fill, and one whose vars are for a load.
    Arguments: loads, undated (entities of the run with and without a date: (name, settings)).
    Returns a list of texts. -#}
{%- macro _undated_problems(loads, undated) -%}
    {%- set given, text = var('business_date', none), env_var('SPARK_CDC_BUSINESS_DATE', 'none') | trim -%}
    {%- set known = spark_cdc._entity_nodes() | map('first') | list -%}
    {%- set dates = spark_cdc._of_run('business_date', 'SPARK_CDC_BUSINESS_DATE') -%}
    {%- set dates = dates if dates is mapping else {} -%}
    {%- set asked, lacking = [], [] -%}
    {%- for name, _ in loads if spark_cdc._is_run() and spark_cdc._business_date(name) is none -%}{%- do lacking.append(name) -%}{%- endfor -%}
    {%- for name in ['spark_cdc_load_type', 'spark_cdc_position', 'spark_cdc_replay', 'spark_cdc_reset', 'spark_cdc_rekey']
            if var(name, none) not in [none, []] -%}
        {%- do asked.append('the var ' ~ name) -%}
    {%- endfor -%}
    {%- do asked.append('the environment variable SPARK_CDC_LOAD_TYPE') if env_var('SPARK_CDC_LOAD_TYPE', '') | trim -%}
    {%- set is_blank = given is none and (text == '' or 'business_date' in (invocation_args_dict.get('vars') or {}))
        or undated | map('first') | select('in', dates) | list != [] -%}
    {%- set values = {
        'example': "--vars '{business_date: 2019-06-19}'", 'asked': asked | join(', '), 'known': known | join(', '),
        'given': 'the environment variable SPARK_CDC_BUSINESS_DATE' if given is none and text == '' else 'the var business_date',
        'unknown': dates | reject('in', known) | join(', '),
    } -%}
    {{ return(spark_cdc._failed_rules(values, [
        (lacking,
         'the business date is missing, and the var spark_cdc_require_business_date is true. Run the same command with %(example)s, or with the '
         'environment variable SPARK_CDC_BUSINESS_DATE=2019-06-19.'),
        (undated and is_blank,
         '%(given)s is empty. Give a business date, such as %(example)s, or leave it out: then nothing is loaded.'),
        (undated and not loads and asked,
         '%(asked)s: that is for a load, but the business date is missing. Run the same command with %(example)s, or without it.'),
        (values.unknown, "the business date is given for '%(unknown)s', which is no entity (%(known)s). Name entities of this project."),
    ])) }}
{%- endmacro -%}


{#- What is wrong with the business dates of the entities that are loaded. Argument: loads
    ((name, settings) of each). Returns a list of texts. -#}
{%- macro _business_date_problems(loads) -%}
    {%- set problems = [] -%}
    {%- set is_var = var('business_date', none) is not none -%}
    {%- for name, settings in loads -%}
        {%- set value = spark_cdc._business_date(name) -%}
        {%- set time = spark_cdc._business_time(value) -%}
        {%- set values = {
            'name': name, 'value': value, 'example': "--vars '{business_date: 2019-06-19}'",
            'given': 'the var business_date' if is_var else 'the environment variable SPARK_CDC_BUSINESS_DATE',
        } -%}
        {%- do problems.extend(spark_cdc._failed_rules(values, [
            (time is none,
             "%(given)s is '%(value)s', which is not a business date. Accepted are YYYY-MM-DD and 'YYYY-MM-DD HH:MM[:SS]', such as "
             '%(example)s.'),
            (time is not none and time.strftime('%H%M%S') != '000000' and settings.get('business_date_type') != 'timestamp',
             "%(name)s: %(given)s is '%(value)s', but this entity is loaded by date. Accepted is a date, such as %(example)s; for times "
             "set business_date_type: timestamp in the meta of stg_%(name)s."),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with the load type that a run says. Argument: loads (the entities that are
    loaded: (name, settings)). Returns a list of texts. -#}
{%- macro _load_type_problems(loads) -%}
    {%- set given = spark_cdc._of_run('spark_cdc_load_type', 'SPARK_CDC_LOAD_TYPE') or none -%}
    {%- if given is none -%}{{ return([]) }}{%- endif -%}
    {%- set label = 'the var spark_cdc_load_type' if var('spark_cdc_load_type', none) is not none else 'the environment variable SPARK_CDC_LOAD_TYPE' -%}
    {%- set names = loads | map('first') | list -%}
    {%- set problems = [] -%}
    {%- for name in given if given is mapping and name not in names -%}
        {%- do problems.append(label ~ " names '" ~ name ~ "', which is no entity of this run (" ~ names | join(', ')
            ~ '). Name entities that are loaded, or leave it out.') -%}
    {%- endfor -%}
    {%- for name, settings in loads -%}
        {%- set type, declared = spark_cdc._load_type_of_run(name), settings.get('load_type') -%}
        {%- do problems.extend(spark_cdc._failed_rules({'name': name, 'label': label, 'type': type, 'declared': declared}, [
            (type is not none and type != declared and type not in ['full', 'delta'],
             "%(name)s: %(label)s is '%(type)s'. Accepted for one run are full and delta (an entity of load_type %(declared)s), alone or by entity: "
             "{%(name)s: full}."),
            (settings.get('keyless') is true and type == 'delta',
             '%(name)s: %(label)s is delta, but the entity is keyless, and a row of a delta has to name by a key the one that it changes. Leave it out.'),
            (declared == 'events' and type == 'delta',
             '%(name)s: %(label)s is delta, but the entity takes change events (load_type: events). Accepted for one run is full.'),
        ])) -%}
        {%- if declared == 'events' and type == 'full' -%}
            {%- set events = settings.get('events') if settings.get('events') is mapping else {} -%}
            {%- set sources = settings.get('sources') if settings.get('sources') is mapping else {} -%}
            {%- set is_feed = spark_cdc._source_facts(settings.get('source')).reads == 'feed' -%}
            {%- set order = spark_cdc._columns_by_name(spark_cdc._described_columns(spark_cdc.entity_node(name)), events.get('order')) -%}
            {%- do problems.extend(spark_cdc._failed_rules({'name': name, 'given': var('spark_cdc_position', none)}, [
                (events.get('insert_only'),
                 '%(name)s: a full snapshot deletes what it lacks, but the entity is insert_only. Leave spark_cdc_load_type out for it.'),
                (events.get('archive') and 'late_share' in spark_cdc._skipped_guards(name),
                 '%(name)s: late_share is skipped for a full snapshot, so positions begin anew, but events.archive is true, and archived events are compared '
                 'by their positions. Start the ledger anew (--full-refresh with spark_cdc_reset), or leave late_share out of spark_cdc_skip_guards.'),
                (not sources.get('full') and not is_feed,
                 '%(name)s: a full snapshot has a source of its own, which is missing. Write path and format below meta.spark_cdc.sources.full in the YAML '
                 'of stg_%(name)s (docs/snapshots.md).'),
                (spark_cdc._snapshot_position(name, order) is none and not is_feed,
                 "%(name)s: the var spark_cdc_position is '%(given)s'. Say as of which position the snapshot is: a number, a list of numbers as "
                 'event_position has them behind its first, or a time where a date or timestamp gives the order; for instance {%(name)s: [815, 3]}.'),
            ])) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with the var spark_cdc_replay. Arguments: asked (its value), loads (the
    entities that are loaded: (name, settings)). Returns a list of texts. -#}
{%- macro _replay_problems(asked, loads) -%}
    {%- if not asked -%}{{ return([]) }}{%- endif -%}
    {%- set from = asked.get('from') if asked is mapping else none -%}
    {%- set first = spark_cdc._business_time(from) -%}
    {%- set example = "--vars '{business_date: 2019-06-20, spark_cdc_replay: {from: 2019-06-19}}'" -%}
    {%- if first is none -%}
        {{ return(['the var spark_cdc_replay is ' ~ asked ~ '. Accepted is {from: DATE}, the first business date that is loaded anew, and beside it '
            ~ 'source: landing or archive, for instance ' ~ example ~ '.']) }}
    {%- endif -%}
    {%- set source = asked.get('source') or 'landing' -%}
    {%- set values = {'from': from, 'source': source} -%}
    {%- set problems = [] -%}
    {%- set message = "the var spark_cdc_replay has '%s', which is unknown. Accepted are from and source, for instance %s." -%}
    {%- for key in asked if key not in ['from', 'source'] -%}{%- do problems.append(message % (key, example)) -%}{%- endfor -%}
    {%- do problems.extend(spark_cdc._failed_rules(values, [
        (source not in ['landing', 'archive'], "spark_cdc_replay.source is '%(source)s'. Accepted are landing and archive."),
        (spark_cdc._listed('spark_cdc_reset'),
         'spark_cdc_replay and spark_cdc_reset are given at once. A replay from before the first load builds everything anew; leave one of them out.'),
    ])) -%}
    {%- for name, settings in loads -%}
        {%- set value = spark_cdc._business_date(name) -%}
        {%- set time = spark_cdc._business_time(value) -%}
        {%- set of_type = (settings.sources if settings.get('sources') is mapping else {}).get(spark_cdc._load_type_of_run(name)) -%}
        {%- do problems.extend(spark_cdc._failed_rules(dict(values, name=name, value=value), [
            (time is not none and time < first,
             "the business date '%(value)s' lies before the first of the replay, '%(from)s'. Give a date from there on, or set spark_cdc_replay.from "
             'to the earliest date that is to be loaded anew.'),
            (first.strftime('%H%M%S') != '000000' and settings.get('business_date_type') != 'timestamp',
             "%(name)s: spark_cdc_replay.from is '%(from)s', but this entity is loaded per date. Give a date."),
            (source == 'archive' and not (settings.get('events') or {}).get('archive'),
             '%(name)s: spark_cdc_replay.source is archive, but only entities of change events with events.archive: true have one. Select those, '
             'or leave source out: the landing is read.'),
            (source == 'landing' and spark_cdc._reads_whole_table(of_type or settings.get('source') or {}) and settings.get('archive_input') is not true,
             '%(name)s: its source is a table without source.date_column, which has no rows of past dates, so a replay has nothing to read. '
             'With archive_input: true later loads keep what they read. Leave the entity out; to take back its last loads run spark-cdc undo %(name)s.'),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with the branch that a command is to work in (spark-cdc … --branch NAME, which
    sets both environment variables): a schema that is none would be loaded from nothing. Returns
    a list of texts. -#}
{%- macro _branch_problems() -%}
    {%- set branch = env_var('SPARK_CDC_BRANCH', '') -%}
    {%- if not branch -%}{{ return([]) }}{%- endif -%}
    {%- set schema = '{' ~ "{ env_var('SPARK_CDC_SCHEMA', '" ~ target.schema ~ "') }" ~ '}' -%}
    {%- set given = {'branch': branch, 'found': target.schema, 'profile': target.profile_name, 'schema': schema} -%}
    {%- if target.schema != branch -%}
        {{ return(spark_cdc._failed_rules(given, [
            (true,
             "--branch %(branch)s: the target's schema is %(found)s, since the profile '%(profile)s' does not take it from the environment. Write "
             'schema: "%(schema)s" into it, or leave --branch out and name a target with that schema.'),
        ])) }}
    {%- endif -%}
    {{ return(spark_cdc._failed_rules(given, [
        (spark_cdc._branch_marker_of(branch) is none,
         '--branch %(branch)s: there is no such branch. spark-cdc branch list shows those that are there, spark-cdc branch create %(branch)s makes it.'),
    ])) }}
{%- endmacro -%}


{#- What is wrong with the platform of the target: with its adapter, or with the catalog in which a
    run would make its relations, the one that is the session's default.
    Returns a list of texts. -#}
{%- macro _catalog_problems() -%}
    {%- set other = spark_cdc._other_platform() -%}
    {%- if other is none -%}{{ return([]) }}{%- endif -%}
    {{ return(spark_cdc._failed_rules(dict(other, target=target.name), [
        (not other.catalog,
         "the type of the target %(target)s is %(kind)s, with which no load has been tested yet. Accepted are type: spark, whose catalog has views as Hive's "
         'metastore has them, and type: databricks (docs/platforms.md).'),
        (other.catalog,
         'the default catalog of the target %(target)s is %(catalog)s (%(kind)s), %(why)s. Accepted are spark_catalog, with views as in Hive, and catalogs of '
         "Iceberg (org.apache.iceberg.spark.SparkCatalog) of the types jdbc and rest. To load into spark_catalog, leave spark.sql.defaultCatalog out of the profile "
         "and of Spark's settings; tables of %(catalog)s can still be sources (docs/iceberg_catalogues.md)."),
    ])) }}
{%- endmacro -%}


{#- What a run would load that the Spark at the target can't: all that depends on its version.
    Argument: loads (the entities that are loaded: (name, settings as they were written)).
    Returns a list of texts. -#}
{%- macro _spark_problems(loads) -%}
    {%- set version, text = spark_cdc._spark_version() -%}
    {%- if version is none or version >= [4, 0] -%}{{ return([]) }}{%- endif -%}
    {%- if version < [3, 5] -%}
        {{ return(['the server of the target %s is Spark %s; accepted are Spark 3.5 and newer. Load with such a one: another host in the profile, or for a '
            'local server another pyspark (docs/limits.md).' % (target.name, text)]) }}
    {%- endif -%}
    {%- set problems = [] -%}
    {%- for name, settings in loads -%}
        {#- options that are said in queries on a path (_direct_sql()) -#}
        {%- set others, options = settings.get('sources'), [] -%}
        {%- for source in [settings.get('source')] + (others.values() | list if others is mapping else [])
                if source is mapping and source.get('options') is mapping -%}
            {%- for option in source.options | select('string') if option | lower in ['pathglobfilter', 'modifiedbefore', 'modifiedafter', 'linesep']
                    or (option | lower == 'multiline' and spark_cdc._source_facts(source).has_names) -%}
                {%- do options.append(option) -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- for option in options | unique(case_sensitive=true) -%}
            {%- do problems.append('%s: the option %s of its source takes Spark 4.0 or newer, and the server of the target %s is Spark %s. Leave the option out, '
                'or load with a newer Spark.' % (name, option, target.name, text)) -%}
        {%- endfor -%}
        {%- for id in selected_resources if id.endswith('.' ~ name ~ '_bitemporal') -%}
            {%- do problems.append('%s: %s_bitemporal takes Spark 4.0 or newer, and the server of the target %s is Spark %s, whose analyzer gives up on a query of '
                'that depth. Leave the model out (--exclude %s_bitemporal), or load with a newer Spark.' % (name, name, target.name, text, name)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with columns whose ledger is a table of Delta or Iceberg, or of ORC, which
    Spark does not read back. Arguments: columns (of the YAML), settings (meta.spark_cdc).
    Returns a list of texts. -#}
{%- macro _table_format_problems(columns, settings) -%}
    {%- set format = settings.get('file_format') or spark_cdc._file_format_of_vars() -%}
    {%- set facts, without_backticks, here = spark_cdc._table_facts(format), [], spark_cdc._platform() -%}
    {%- set problems = spark_cdc._failed_rules({'format': format, 'here': here.name, 'ledgers': (here.ledgers or []) | join(', ')}, [
        (format != spark_cdc._format_here(format),
         "file_format is '%(format)s', but tables on the platform %(here)s are %(ledgers)s: leave file_format and the var spark_cdc_file_format out, or write "
         'file_format: %(ledgers)s (docs/platforms.md)'),
    ]) -%}
    {%- set sources = [settings.get('source')] + ((settings.get('sources') or {}).values() | list if settings.get('sources') is mapping else []) -%}
    {%- for source in sources if spark_cdc._source_facts(source).no_backticks -%}{%- do without_backticks.append(source.format) -%}{%- endfor -%}
    {%- for column in columns -%}
        {%- set name, data_type = column['name'] | string, column.get('data_type') | string -%}
        {%- set stored = name if column.meta.get('role') != 'control' else '' -%}
        {%- set read = column.meta.get('from', name) | string -%}
        {%- set fields = data_type.replace('``', '\u0000').split('`')[1::2] | join(' ') | replace('\u0000', '`') -%}
        {%- set words = data_type.lower().replace('<', ' ').replace('>', ' ').replace(',', ' ').replace(':', ': ') -%}
        {%- do problems.extend(spark_cdc._failed_rules({'name': name, 'type': data_type, 'read': read}, [
            (facts.is_narrow and '`' in stored ~ fields.replace(' ', ''),
             "column '%(name)s' has a backtick in its name or in that of a field (%(type)s), which Spark does not find again in ORC files: rename it and say under "
             'meta `from`, or set file_format: parquet'),
            (without_backticks and '`' in read ~ fields,
             "column '%(name)s' is read from '%(read)s' (%(type)s) of ORC files, in which Spark finds no name with a backtick: have it delivered under another name, or in "
             'parquet'),
            (name | select('in', facts.no_in_names) | list,
             "column '%(name)s' has a blank or one of ,;{}()= in its name, which Delta tables do not take: rename it and say under meta `from: %(name)s`, "
             'or set file_format: ' ~ spark_cdc._table_formats_without('no_in_names')),
            (words.split() | select('in', facts.no_types) | list,
             "column '%(name)s' has the type %(type)s, but Iceberg tables have no integers below int: declare int in its place, or set file_format: "
             ~ spark_cdc._table_formats_without('no_types')),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- Raises what is wrong with settings, names or vars before anything was begun. spark-cdc, which
    ends with a code of its own then, gets it as data, too. -#}
{%- macro _refuse_settings(message) -%}
    {%- if spark_cdc._is_of_command_line() -%}{%- do spark_cdc._print_data([], {'problems': message}) -%}{%- endif -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}
