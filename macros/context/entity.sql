{#- The node of `stg_<name>` in dbt's graph, where an entity's owner describes it: columns with
    types and roles, and the settings under `meta.spark_cdc`. Unit tests, which have no graph,
    override this macro with the same YAML entry (an anchor). Returns a dictionary, or none if
    there is no such model. -#}
{%- macro entity_node(name) -%}
    {%- set unique_id = 'model.' ~ (model['package_name'] if model is defined else '') ~ '.stg_' ~ name -%}
    {%- if unique_id in graph.nodes -%}
        {{ return(graph.nodes[unique_id]) }}
    {%- endif -%}
    {%- for node in graph.nodes.values() if node.resource_type == 'model' and node.name == 'stg_' ~ name -%}
        {{ return(node) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- Everything the macros need to know of an entity, read from the YAML of `stg_<name>` and
    completed with the defaults. Nothing is checked here: validate() has done that at the start of
    the run.
    Returns a dictionary: name, landed_as (another name of the view that staging reads, or none),
    load_type (of this run, see _load_type_of_run()), declared_load_type, eff_type (type of
    eff_start_date), deleted_when, keyless (whether rows are told apart by all compared columns and
    their number among equals), archive_input (whether this load keeps what it reads of a table as
    it is now), timezone, source
    {format, facts (its row of _source_formats()), path, read_path (as the server gets it, see
    _path_as_read()), table, options, text, date_column, on_missing_column, on_unexpected_column},
    events (of _event_settings(); none for other load types), dropped_columns (that are stored no
    more, in lower case), added (columns that loads have added, names to types: they are in
    columns as if they were declared), checkpoint, maintenance and guards (of _policy(); guards that
    the var spark_cdc_skip_guards names are off), validity (of _validity()), rules (of _rules()),
    quarantine (kinds of rejected rows that are set aside), file_format, and lists of columns:
    columns (all, as declared, and those that a change-event format adds), stored (without control
    columns), key_columns, compared,
    untracked, sensitive (stored columns that lie apart: docs/sensitive.md).
    A column is a dictionary: name, data_type, role, nullable, from, format, century, encoding,
    optional (whether the source may lack it), in_orc (whether it is stored in an ORC table),
    renamed_from (former names), default, on_cast_error, sensitive; of a sensitive one, and none of
    others, secret (the table that keys its hashes), mask (what others see of it) and pseudonym
    (the domain of its tokens, where these are the mask); sql (the name, quoted where it must
    be). -#}
{%- macro _entity(name) -%}
    {%- set node = spark_cdc.entity_node(name) -%}
    {%- if node is none -%}
        {%- set message -%}
            spark_cdc: the entity '{{ name }}' has no model stg_{{ name }}, where its columns and settings are described. Write it, or let
            {{- ' `spark-cdc new ' ~ name }} --columns ...` do so.
        {%- endset -%}
        {% do exceptions.raise_compiler_error(message) %}
    {%- endif -%}
    {%- do spark_cdc._check_usable(name) -%}
    {%- for problem in spark_cdc._missing_settings_problems(node) -%}
        {%- do exceptions.raise_compiler_error('spark_cdc: ' ~ spark_cdc._in_yaml(name, [problem])[0]) -%}
    {%- endfor -%}
    {{ return(spark_cdc._described_entity(name, node)) }}
{%- endmacro -%}


{#- The dictionary of an entity (see _entity), from its node. Argument: as_declared (whether what
    this run says of its load type plays no part). -#}
{%- macro _described_entity(name, node, as_declared=false) -%}
    {%- set memo, kept = spark_cdc._memo(), (node.get('unique_id') or name) ~ ' as declared' if as_declared else node.get('unique_id') or name -%}
    {%- if kept not in memo -%}
        {%- set node = spark_cdc._with_added(spark_cdc._needed_node(node), memo.get('added to ' ~ kept) or {}) -%}
        {%- do memo.update({kept: spark_cdc._completed_entity(name, node, as_declared)}) -%}
    {%- endif -%}
    {{ return(memo[kept]) }}
{%- endmacro -%}


{#- Whether loads of an entity may add columns. Argument: node. -#}
{%- macro _adds_columns(node) -%}
    {%- set settings = spark_cdc._settings_of(node) -%}
    {%- set sources = [settings.get('source')] + (settings.sources.values() | list if settings.get('sources') is mapping else []) -%}
    {{ return(sources | select('mapping') | selectattr('on_unexpected_column', 'defined') | selectattr('on_unexpected_column', 'equalto', 'add') | list != []) }}
{%- endmacro -%}


{#- Records for this run which columns loads of an entity have added, as a manifest lists them.
    Arguments: name, node, added (names to types). Returns the entity with them. -#}
{%- macro _entity_with(name, node, added) -%}
    {%- set memo, kept = spark_cdc._memo(), node.get('unique_id') or name -%}
    {%- if memo.get('added to ' ~ kept, {}) != added -%}
        {%- do memo.update({'added to ' ~ kept: added}) -%}
        {%- do memo.pop(kept, none) -%}
    {%- endif -%}
    {{ return(spark_cdc._described_entity(name, node)) }}
{%- endmacro -%}


{#- The same, worked out: of a node with no setting that is wrong. -#}
{%- macro _completed_entity(name, node, as_declared) -%}
    {%- set known = spark_cdc._known_settings() -%}
    {%- set settings = spark_cdc._completed(spark_cdc._settings_of(node), known.entity) -%}
    {%- set declared_load_type = settings.load_type -%}
    {%- set load_type = declared_load_type if as_declared else spark_cdc._load_type_of_run(name) or declared_load_type -%}

    {%- set skipped = spark_cdc._skipped_guards(name) -%}

    {#- where its data of this load type lie -#}
    {%- set own = (settings.sources or {}).get(load_type) if load_type != declared_load_type else none -%}
    {%- set source = spark_cdc._completed(own or settings.source, known.entity.source.settings) -%}
    {%- set is_message = load_type == 'events' and spark_cdc._is_message_format((settings.events or {}).get('format')) -%}
    {%- set facts = spark_cdc._source_facts(source) -%}
    {%- do source.update({
        'facts': facts,
        'options': source.options or {},
        'columns': source.columns or {},
        'read_path': spark_cdc._path_as_read((source.path or '') | string),
        'text': facts.is_text or is_message if source.text is none else source.text,
        'on_unexpected_column': 'ignore' if 'unexpected_columns' in skipped else source.on_unexpected_column,
    }) -%}
    {%- do settings.update({'source': source, 'file_format': settings.file_format or spark_cdc._file_format_of_vars(known)}) -%}
    {%- set is_narrow = spark_cdc._table_facts(settings.file_format).is_narrow -%}

    {#- The columns with the names that they have in this source. A full snapshot of an entity of
        deltas may lack those that say what a delta's row does. -#}
    {%- set declared = [] -%}
    {%- set of_source = [source.decimal, source.grouping, source.trailing_sign] | select | list -%}
    {%- for column in spark_cdc._described_columns(node) -%}
        {%- set has_numbers = of_source or [column.decimal, column.grouping, column.trailing_sign] | select | list -%}
        {%- do declared.append(dict(
            column,
            numbers=spark_cdc._numbers(column, source) if has_numbers else none,
            optional=column.role == 'control' and declared_load_type == 'delta' and load_type == 'full',
            in_orc=column.role != 'control' and is_narrow,
            **({'from': source.columns[column.name] | string} if column.name in source.columns else {})
        )) -%}
    {%- endfor -%}

    {%- set events = spark_cdc._event_settings(settings, declared) if declared_load_type == 'events' else none -%}
    {%- set is_snapshot = events is not none and load_type == 'full' -%}
    {%- if is_snapshot -%}
        {#- Its rows become events of a format of their own (_events_full_snapshot()), at the
            position that the run says; declared is what the settings are for other loads. -#}
        {%- set events = dict(events, format='full_snapshot', is_message=false, landed_row=false, order=[], tie_breaker=[], unavailable=none, technical=[],
            declared=events, snapshot=spark_cdc._snapshot_position(name, events.order)) -%}
        {%- set declared = declared | rejectattr('role', 'equalto', 'control') | list -%}
    {%- endif -%}
    {%- set columns = declared + (events.technical if events else []) -%}
    {%- set guards = spark_cdc._policy('guards', settings, known) -%}
    {%- for guard in skipped if guard in guards -%}{%- do guards.update({guard: none}) -%}{%- endfor -%}
    {{ return({
        'name': name, 'landed_as': none,
        'load_type': load_type, 'declared_load_type': declared_load_type,
        'eff_type': 'timestamp_ntz' if settings.business_date_type == 'timestamp' else 'date',
        'deleted_when': settings.deleted_when, 'keyless': settings.keyless,
        'archive_input': settings.archive_input and spark_cdc._reads_whole_table(source),
        'timezone': settings.timezone,
        'source': source, 'events': events,
        'dropped_columns': spark_cdc._names(settings.dropped_columns) | map('lower') | list, 'added': node.get('added', {}),
        'checkpoint': spark_cdc._policy('checkpoint', settings, known),
        'maintenance': spark_cdc._policy('maintenance', settings, known),
        'validity': spark_cdc._validity(settings, known),
        'cluster_by': spark_cdc._names(settings.cluster_by),
        'expected_every': settings.expected_every,
        'guards': guards, 'rules': spark_cdc._rules(settings),
        'quarantine': [] if is_snapshot else spark_cdc._quarantine(name, settings),
        'file_format': settings.file_format,
        'columns': columns,
        'stored': columns | rejectattr('role', 'equalto', 'control') | list,
        'key_columns': columns | selectattr('role', 'equalto', 'key') | list,
        'compared': columns | selectattr('role', 'equalto', 'compared') | list,
        'untracked': columns | selectattr('role', 'equalto', 'untracked') | list,
        'sensitive': columns | selectattr('sensitive') | list,
    }) }}
{%- endmacro -%}


{#- What is given of some settings, and of the others the defaults of their rules (see
    _known_settings). Returns a dictionary. -#}
{%- macro _completed(given, rules) -%}
    {%- set whole = {} -%}
    {%- for name, rule in rules.items() -%}{%- do whole.update({name: rule.get('default')}) -%}{%- endfor -%}
    {%- do whole.update(given or {}) -%}
    {{ return(whole) }}
{%- endmacro -%}


{#- The entity that the model at hand belongs to. Returns text. -#}
{%- macro _entity_name() -%}
    {{ return(spark_cdc._strip_entity_affix(model.get('tested_node_unique_id', model['unique_id']).split('.')[-1])) }}
{%- endmacro -%}


{#- The entities of the project: what has a model stg_<name>, and a model <name>_ledger that
    calls ledger(); or, as unit tests have it, settings. Returns a list of (name, node of
    stg_<name>, unique id of the ledger), in the order of the names. -#}
{%- macro _entity_nodes() -%}
    {%- set found = [] -%}
    {%- for node in graph.nodes.values() | sort(attribute='name') if node.resource_type == 'model' and node.name.startswith('stg_') -%}
        {%- set name = node.name[4:] -%}
        {%- set ledger = node.unique_id.rsplit('.', 1)[0] ~ '.' ~ name ~ '_ledger' -%}
        {%- set config = (graph.nodes[ledger].get('config') or {}) if ledger in graph.nodes else {} -%}
        {%- if config.get('materialized') == 'cdc_ledger' or (ledger in graph.nodes and spark_cdc._settings_of(node)) -%}
            {%- do found.append((name, node, ledger)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- The project's own part of a node's `meta`, as it was written; an empty dictionary where it is
    none. -#}
{%- macro _settings_of(node) -%}
    {%- set given = spark_cdc._meta_of(node).get('spark_cdc') -%}
    {{ return(given if given is mapping else {}) }}
{%- endmacro -%}


{#- What is wrong with what operations on loads, and views, need of an entity: its name, and its
    columns with their types and roles. All else is for loads, and a wrong setting must not keep
    anybody from an undo. Arguments as of _entity_problems(). Returns a list of texts. -#}
{%- macro _needed_problems(name, node) -%}
    {%- set settings, known, columns = spark_cdc._settings_of(node), spark_cdc._known_settings(), [] -%}
    {%- set events = settings.get('events') -%}
    {%- for column in spark_cdc._columns_of(node) -%}
        {%- do columns.append(dict(column, meta=dict(column.meta.items() | selectattr(0, 'in', known.needed.column)))) -%}
    {%- endfor -%}
    {{ return(spark_cdc._in_yaml(name, spark_cdc._entity_name_problems(name)
        + spark_cdc._setting_problems('', settings, known.needed.entity, settings.get('load_type'))
        + spark_cdc._column_problems(columns, settings, is_load=false)
        + spark_cdc._failed_rules({'formats': spark_cdc._event_formats() | join(', ')}, [
            (settings.get('load_type') == 'events' and (events is not mapping or not spark_cdc._adapter(events.get('format'))),
             'events.format is missing, or no macro knows it: name the format of the events, one of %(formats)s'),
        ]))) }}
{%- endmacro -%}


{#- A node of stg_<entity> without the settings that are wrong, but for those that are needed:
    what is not there has its default. Loads don't get so far, since they are refused for each
    wrong setting. -#}
{%- macro _needed_node(node) -%}
    {%- set known, columns = spark_cdc._known_settings(), [] -%}
    {%- set usable = spark_cdc._usable(spark_cdc._settings_of(node), known.entity, known.needed.entity) -%}
    {%- for column in spark_cdc._columns_of(node) -%}
        {%- set others = column.meta.keys() | reject('in', known.needed.column) | list -%}
        {%- do columns.append(dict(column, meta=spark_cdc._usable(column.meta, known.column, known.needed.column)) if others else column) -%}
    {%- endfor -%}
    {%- if usable.get('cluster_by') and spark_cdc._cluster_problems(columns, spark_cdc._names(usable.cluster_by)) -%}{%- do usable.pop('cluster_by') -%}{%- endif -%}
    {%- if usable.get('events') is mapping -%}
        {%- set rules = dict(known.events) -%}
        {#- which the format judges -#}
        {%- for name in usable.events if name not in rules -%}{%- do rules.update({name: {'kind': 'any'}}) -%}{%- endfor -%}
        {%- do usable.update({'events': spark_cdc._usable(usable.events, rules, {})}) -%}
    {%- endif -%}
    {{ return(dict(node, meta={'spark_cdc': usable}, config={}, columns=columns)) }}
{%- endmacro -%}


{#- Those of some settings that have rules and are right, or needed. -#}
{%- macro _usable(given, rules, needed) -%}
    {%- set usable, is_right = {}, not spark_cdc._setting_problems('', given, rules) -%}
    {%- for name, value in given.items() if name in rules -%}
        {%- if is_right or name in needed or not spark_cdc._setting_problems('', {name: value}, {name: rules[name]}) -%}{%- do usable.update({name: value}) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(usable) }}
{%- endmacro -%}


{#- `meta` of a node or column, wherever it was written: under `meta` or under `config.meta`. -#}
{%- macro _meta_of(item) -%}
    {%- set meta = dict(item.get('meta') or {}) -%}
    {%- do meta.update((item.get('config') or {}).get('meta') or {}) -%}
    {{ return(meta) }}
{%- endmacro -%}


{#- One name or a list of names, as a list of texts. -#}
{%- macro _names(given) -%}
    {%- set is_one = given is string or given is mapping or given is not iterable -%}
    {{ return([] if given is none else ([given] if is_one else given) | map('string') | list) }}
{%- endmacro -%}


{#- A var of the project, or its default (of _known_settings) where it is null, not given, or
    wrong, which _var_problems() says before a load. dbt reads the defaults that stand in
    dbt_project.yml for this project's own models only, not for those of a project that has it as
    a package. -#}
{%- macro _var(name, known=none) -%}
    {%- set given, rule = var(name, none), (known or spark_cdc._known_settings()).vars[name] -%}
    {%- set is_right = given is not none and ((rule.kind == 'mapping' and given is mapping) or spark_cdc._setting_error(name, given, rule) is none) -%}
    {{ return(given if is_right else rule.get('default')) }}
{%- endmacro -%}


{#- The format of tables whose entity names none. -#}
{%- macro _file_format_of_vars(known=none) -%}
    {{ return(spark_cdc._var('spark_cdc_file_format', known) or spark_cdc._format_here(spark_cdc._plain_format())) }}
{%- endmacro -%}


{#- What the names of an entity's models end with; of two that end alike the longer comes first. -#}
{%- macro _model_kinds() -%}{{ return(['events', 'ledger', 'committed'] + spark_cdc._view_kinds()) }}{%- endmacro -%}


{#- The kinds of views of an entity; src/spark_cdc/kinds.py has them, too. -#}
{%- macro _view_kinds() -%}
    {{ return(['current', 'latest', 'history', 'event_versions', 'versions', 'changes', 'bitemporal', 'rejects', 'quality']) }}
{%- endmacro -%}


{#- Those that read the archive of change events. -#}
{%- macro _archive_kinds() -%}{{ return(['event_versions', 'bitemporal']) }}{%- endmacro -%}


{#- The ids that the models of an entity have, whether they are there or not. Argument: ledger (id
    of <entity>_ledger). -#}
{%- macro _model_ids(ledger) -%}
    {%- set ids = [] -%}
    {%- for kind in spark_cdc._model_kinds() -%}
        {%- do ids.extend([ledger.removesuffix('ledger') ~ kind, ledger.removesuffix('ledger') ~ kind ~ '_sensitive']) -%}
    {%- endfor -%}
    {{ return(ids) }}
{%- endmacro -%}


{#- The entity that a model belongs to, from the model's name: stg_orders, orders_ledger and
    orders_current are all of `orders`.
    Returns text. -#}
{%- macro _strip_entity_affix(model_name) -%}
    {%- if model_name.startswith('stg_') -%}{{ return(model_name[4:]) }}{%- endif -%}
    {%- set plain = model_name.removesuffix('_sensitive') -%}
    {%- for kind in spark_cdc._model_kinds() if plain.endswith('_' ~ kind) -%}
        {{ return(plain.removesuffix('_' ~ kind)) }}
    {%- endfor -%}
    {%- set message -%}
        spark_cdc: the model '{{ model_name }}' calls a macro of spark_cdc but its name says no entity. Accepted are stg_<entity> and
        {{- ' <entity>_' ~ spark_cdc._model_kinds() | join(', _') ~ ': rename the model.' }}
    {%- endset -%}
    {% do exceptions.raise_compiler_error(message) %}
{%- endmacro -%}


{#- A policy of an entity (maintenance, guards, checkpoint, validity): its own settings come first,
    then the var of that name, then the defaults.
    Arguments: settings (its meta.spark_cdc), known (_known_settings()).
    Returns a dictionary by the names of its settings; none where something is off. -#}
{%- macro _policy(name, settings, known) -%}
    {%- set of_project = 'spark_cdc_' ~ name -%}
    {%- set policy = spark_cdc._completed(spark_cdc._var(of_project, known), known.entity[name].settings) -%}
    {%- do policy.update(settings.get(name) or {}) -%}
    {{ return(policy) }}
{%- endmacro -%}


{#- Whether a source (of an entity, or as its settings are written) is a table without a date
    column, of which a full load reads all rows. -#}
{%- macro _reads_whole_table(source) -%}
    {{ return(source is mapping and spark_cdc._source_facts(source).reads == 'table' and not source.get('date_column')) }}
{%- endmacro -%}


{#- The policy validity, with the column names of <entity>_versions as SQL. Arguments as of
    _policy(). -#}
{%- macro _validity(settings, known) -%}
    {%- set validity = spark_cdc._policy('validity', settings, known) -%}
    {%- for part in ['start', 'end', 'current'] -%}{%- do validity.update({part: spark_cdc._quote(validity[part])}) -%}{%- endfor -%}
    {{ return(validity) }}
{%- endmacro -%}


{#- The rules that an entity's rows are judged by, as a list: name, condition (SQL over the
    columns), action (warn, drop or fail) and at_most (the share of judged rows that may break
    it, or none). Of a rule that drops it is a tenth, unless it is said: as of rejected rows.
    Argument: settings (meta.spark_cdc). -#}
{%- macro _rules(settings) -%}
    {%- if not settings.get('rules') -%}{{ return([]) }}{%- endif -%}
    {%- set known, rules = spark_cdc._known_settings().entity.rules.each, [] -%}
    {%- for name, given in settings.rules.items() -%}
        {%- set rule = spark_cdc._completed(given, known) -%}
        {%- set at_most = 0.1 if rule.action == 'drop' and 'at_most' not in given else rule.at_most -%}
        {%- do rules.append(dict(rule, name=name, at_most=at_most)) -%}
    {%- endfor -%}
    {{ return(rules) }}
{%- endmacro -%}


{#- What is wrong with rules, beyond what their settings say. A rule is one bit of a number, and
    its name stands in texts. -#}
{%- macro _rules_problems(settings) -%}
    {%- set given = settings.get('rules') if settings.get('rules') is mapping else {} -%}
    {%- set problems = [] -%}
    {%- if given | length > 62 -%}
        {%- do problems.append('rules has ' ~ given | length ~ ' rules; accepted are at most 62: join some of them') -%}
    {%- endif -%}
    {%- for name, rule in given.items() if rule is mapping -%}
        {%- do problems.extend(spark_cdc._failed_rules({'name': name, 'at_most': rule.get('at_most')}, [
            (not spark_cdc._has_form(name | string, 'plain_name'),
             "rules has a rule called '%(name)s'; accepted are lower-case letters, digits and _, beginning with a letter: rename it"),
            (rule.get('condition') is string and not rule.condition | trim,
             'rules.%(name)s.condition is empty: write a SQL condition over the columns, such as "amount >= 0"'),
            (rule.get('action') == 'fail' and rule.get('at_most') is not none,
             'rules.%(name)s.at_most is given, but with action: fail no row may break the rule: remove it, or choose drop or warn'),
            (rule.get('at_most') is number and rule.at_most > 1,
             'rules.%(name)s.at_most is %(at_most)s; accepted are shares from 0 to 1, such as 0.01: correct it'),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- Which rejected rows are set aside and do not stop a load: null_keys (whose key can't be
    read), failed_casts (rejected for another reason), duplicate_keys (of keys that come more
    than once), dropped_rows (which break a rule that drops them), failed_rules (which break one
    that stops the load, where that is skipped). Returns a list. -#}
{%- macro _quarantine(name, settings) -%}
    {%- set kinds, skipped = [], spark_cdc._skipped_guards(name) -%}
    {%- set rejects = settings.get('on_reject') == 'quarantine' -%}
    {%- set duplicates = settings.get('on_duplicate_key') == 'quarantine' -%}
    {%- set actions = spark_cdc._rules(settings) | map(attribute='action') | list -%}
    {%- for kind, is_set_aside in [
        ('null_keys', rejects), ('failed_casts', rejects), ('duplicate_keys', duplicates), ('dropped_rows', 'drop' in actions), ('failed_rules', false),
    ] if (is_set_aside or kind in skipped) and not (kind == 'duplicate_keys' and (settings.get('load_type') == 'events' or settings.get('keyless')))
            and not (kind == 'failed_rules' and 'fail' not in actions) -%}
        {%- do kinds.append(kind) -%}
    {%- endfor -%}
    {{ return(kinds) }}
{%- endmacro -%}


{#- The position of the snapshot that this run loads, from the var `spark_cdc_position`: one for all
    entities of the run, or one for each.
    Arguments: name (of the entity), order (columns that order its events). Returns a dictionary:
    numbers (as in event_position, behind its first), or time and type (a time of the first
    column of the order); none where it is neither. -#}
{%- macro _snapshot_position(name, order) -%}
    {%- set given = var('spark_cdc_position', none) -%}
    {%- set given = given.get(name) if given is mapping else given -%}
    {%- set type = order[0].data_type if order else none -%}
    {%- set parts = given if given is sequence and given is not string else (given | string).split(',') -%}
    {%- set numbers = parts | map('string') | map('trim') | list -%}
    {%- set time = spark_cdc._business_time(given) if type in ['date', 'timestamp', 'timestamp_ntz'] else none -%}
    {%- if time is not none -%}{{ return({'time': time, 'type': type}) }}{%- endif -%}
    {%- for number in numbers -%}
        {%- set digits = number.removeprefix('-') -%}
        {%- if not 1 <= digits | length <= 18 or digits.strip('0123456789') -%}{{ return(none) }}{%- endif -%}
    {%- endfor -%}
    {{ return({'numbers': numbers} if numbers else none) }}
{%- endmacro -%}


{#- How numbers in text are written where that is not 1234.56: what a column says, else its
    source. Returns a dictionary {decimal, grouping, trailing_sign}; none where numbers are
    plain, or the column is no number in text. -#}
{%- macro _numbers(column, source) -%}
    {%- set given = dict(source.items() | selectattr(0, 'in', ['decimal', 'grouping', 'trailing_sign'])) -%}
    {%- for name in given if column[name] is not none -%}{%- do given.update({name: column[name]}) -%}{%- endfor -%}
    {%- if column.encoding or not source.text or not given.values() | select | list -%}{{ return(none) }}{%- endif -%}
    {%- set is_number = spark_cdc._is_number_type(column.data_type) -%}
    {{ return(dict(given, decimal=given.decimal or '.') if is_number else none) }}
{%- endmacro -%}


{#- What is wrong with such settings of columns and of a source. Arguments: columns (of the
    YAML), source (setting), label (what stands before its names), is_message (whether columns
    come in JSON whatever the format). -#}
{%- macro _numbers_problems(columns, source, label, is_message) -%}
    {%- if source is not mapping -%}{{ return([]) }}{%- endif -%}
    {%- set names = ['decimal', 'grouping', 'trailing_sign'] -%}
    {%- set facts = spark_cdc._source_facts(source) -%}
    {%- set is_text = facts.is_text or source.get('text') or is_message -%}
    {%- set problems = [] -%}
    {%- for name in names if source.get(name) is not none and not is_text -%}
        {%- do problems.append(label ~ name ~ ' is given, but columns of ' ~ source.format ~ ' arrive typed: remove it, or set source.text: true where all '
            ~ 'columns hold text') -%}
    {%- endfor -%}
    {%- for column in columns -%}
        {%- set meta = column.meta -%}
        {%- set own = names | select('in', meta) | list -%}
        {%- set is_said = own or source.get('grouping') is not none -%}
        {%- set is_number = is_said and not meta.get('encoding') and spark_cdc._is_number_type(column.get('data_type') or '') -%}
        {%- set grouping = (meta.grouping if 'grouping' in meta else source.get('grouping')) if is_number else none -%}
        {%- set values = {'name': column['name'], 'own': own | join(', '), 'type': column.get('data_type'), 'grouping': grouping,
                          'other': ',' if grouping == '.' else '.'} -%}
        {%- do problems.extend([] if not is_said else spark_cdc._failed_rules(values, [
            (own and not is_number, "column '%(name)s' has %(own)s, but the type %(type)s: decimal, grouping and trailing_sign are for numbers without an "
             'encoding, remove it'),
            (grouping is not none and grouping == (meta.get('decimal') or source.get('decimal') or '.'),
             "column '%(name)s' has '%(grouping)s' both as decimal and as grouping: set decimal: '%(other)s', or another grouping"),
            (grouping == '.' and (facts.has_names or is_message),
             "column '%(name)s' has grouping: '.', but in JSON the number 1.234 would be taken for 1234: remove it"),
        ])) -%}
    {%- endfor -%}
    {{ return(problems | unique | list) }}
{%- endmacro -%}


{#- Groups of the codes of the column `operation` (docs/operations.md), in one place, as a list for
    SQL: ('I', 'U', 'D').
    Arguments: group: `visible` (what people may see), `committed` (the same, and the record of
    the load), `existing` (rows that exist after their load), `changes` (what changed),
    `supplied` (rows that came in with a key), `received` (the same, and rejected ones), `known`
    (rows that say what a key was last), `met` (rows whose keys a full load has brought, with the
    marks of unchanged ones that are not written: S, which are there between its two writes only,
    and W, of rows that broke a rule), `judged` (rows that rules have looked at, as far as the
    ledger holds them). Returns text. -#}
{%- macro _operations(group) -%}
    {%- set groups = {
        'visible': ['I', 'U', 'D', 'N', 'X'],
        'committed': ['I', 'U', 'D', 'N', 'X', 'L'],
        'existing': ['I', 'U', 'N', 'X'],
        'changes': ['I', 'U', 'D'],
        'supplied': ['I', 'U', 'D', 'N', 'T'],
        'received': ['I', 'U', 'D', 'N', 'T', 'R'],
        'known': ['I', 'U', 'D', 'N', 'X', 'T'],
        'met': ['I', 'U', 'N', 'S', 'W', 'R'],
        'judged': ['I', 'U', 'N', 'W', 'R'],
    } -%}
    {{ return("('" ~ groups[group] | join("', '") ~ "')") }}
{%- endmacro -%}
