{#- The node of `stg_<name>` in dbt's graph, where an entity's owner describes it: columns with
    types and roles, and the settings under `meta.spark_cdc`. Unit tests, which have no graph,
    override this macro with the same YAML entry (an anchor). Returns a dictionary, or none if
    there is no such model. -#}
{%- macro entity_node(name) -%}
    {%- set unique_id = 'model.' ~ model['package_name'] ~ '.stg_' ~ name -%}
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
    Returns a dictionary: name, load_type (of this run, see _load_type_of_run()),
    declared_load_type, eff_type (type of eff_start_date), deleted_when, timezone, source
    {format, path, table, options, text, date_column, on_missing_column, on_unexpected_column},
    events (of _event_settings(); none for other load types), dropped (columns that are stored no
    more, in lower case), checkpoint {changed_share, loads, rows}, guards (of _guards()), rules
    (of _rules()), quarantine (kinds of rejected rows that are set aside), file_format, and lists
    of columns: columns (all, as declared, and those that a change-event format adds), stored
    (without control columns), key_columns, compared, ignored, sensitive (stored columns that lie
    apart: docs/sensitive.md). A column is a dictionary: name, data_type, role, nullable, from,
    format, century, encoding, optional (whether the source may lack it), in_orc (whether it is
    stored in an ORC table), was (former names), default, on_cast_error, sensitive; of a sensitive
    one, and none of others, secret (the table that keys its hashes), mask (what others see of
    it) and pseudonym (the domain of its tokens, where these are the mask); sql (the name, quoted
    where it must be). -#}
{%- macro _entity(name) -%}
    {%- set node = spark_cdc.entity_node(name) -%}
    {%- if node is none -%}
        {%- set message -%}
            spark_cdc: the entity '{{ name }}' has no model stg_{{ name }}, where its columns and settings are described. Write it, or let
            {{- ' `spark-cdc new ' ~ name }} --columns ...` do so.
        {%- endset -%}
        {% do exceptions.raise_compiler_error(message) %}
    {%- endif -%}
    {%- for problem in spark_cdc._missing_settings_problems(node) -%}
        {%- do exceptions.raise_compiler_error('spark_cdc: ' ~ name ~ ': ' ~ problem ~ ' (in the YAML of stg_' ~ name ~ ').') -%}
    {%- endfor -%}
    {{ return(spark_cdc._described_entity(name, node)) }}
{%- endmacro -%}


{#- The dictionary of an entity (see _entity), from its node. Argument: as_declared (whether what
    this run says of its load type plays no part). -#}
{%- macro _described_entity(name, node, as_declared=false) -%}
    {%- set memo, kept = spark_cdc._memo(), (node.get('unique_id') or name) ~ ' as declared' if as_declared else node.get('unique_id') or name -%}
    {%- if kept not in memo -%}{%- do memo.update({kept: spark_cdc._completed_entity(name, spark_cdc._needed_node(node), as_declared)}) -%}{%- endif -%}
    {{ return(memo[kept]) }}
{%- endmacro -%}


{#- The same, worked out: of a node with no setting that is wrong. -#}
{%- macro _completed_entity(name, node, as_declared) -%}
    {%- set rules = spark_cdc._known_settings().entity -%}
    {%- set given = spark_cdc._completed(spark_cdc._settings_of(node), rules) -%}
    {%- set load_type = given.load_type if as_declared else spark_cdc._load_type_of_run(name) or given.load_type -%}
    {%- set settings = dict(given, source=spark_cdc._described_source(name, given, load_type, rules.source.settings),
        file_format=given.file_format or spark_cdc._var('spark_cdc_file_format')) -%}
    {%- set declared = spark_cdc._declared_columns(node, settings, load_type) -%}
    {%- set events = spark_cdc._event_settings(settings, declared) if settings.load_type == 'events' else none -%}
    {%- set is_snapshot = events is not none and load_type == 'full' -%}
    {%- if is_snapshot -%}
        {%- set events = spark_cdc._snapshot_events(name, events) -%}
        {%- set declared = declared | rejectattr('role', 'equalto', 'control') | list -%}
    {%- endif -%}
    {%- set columns = declared + (events.technical if events else []) -%}
    {%- set checkpoint = spark_cdc._completed(spark_cdc._var('spark_cdc_checkpoint'), rules.checkpoint.settings) -%}
    {%- do checkpoint.update(settings.checkpoint or {}) -%}
    {{ return({
        'name': name,
        'load_type': load_type,
        'declared_load_type': settings.load_type,
        'eff_type': 'timestamp_ntz' if settings.business_date_type == 'timestamp' else 'date',
        'deleted_when': settings.deleted_when,
        'timezone': settings.timezone,
        'source': settings.source,
        'events': events,
        'dropped_columns': spark_cdc._names(settings.dropped_columns) | map('lower') | list,
        'checkpoint': checkpoint,
        'maintenance': spark_cdc._maintenance(settings),
        'cluster_by': spark_cdc._names(settings.cluster_by),
        'target_file_mb': [settings.target_file_mb | int, 1] | max,
        'expected_every': settings.expected_every,
        'priority': settings.priority,
        'guards': spark_cdc._guards(name, settings),
        'rules': spark_cdc._rules(settings),
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


{#- The columns as declared, with the names that they have in the source of this load type. A
    full snapshot of an entity of deltas may lack those that say what a delta's row does. -#}
{%- macro _declared_columns(node, settings, load_type) -%}
    {%- set columns = [] -%}
    {%- for column in spark_cdc._described_columns(node) -%}
        {%- do columns.append(dict(
            column,
            numbers=spark_cdc._numbers(column, settings.source),
            optional=column.role == 'control' and settings.load_type == 'delta' and load_type == 'full',
            in_orc=column.role != 'control' and settings.file_format == 'orc',
            **({'from': settings.source.columns[column.name] | string} if column.name in (settings.source.columns or {}) else {})
        )) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- Where an entity's data of a load type lie, completed with the defaults of some rules. -#}
{%- macro _described_source(name, settings, load_type, rules) -%}
    {%- set own = (settings.sources or {}).get(load_type) if load_type != settings.load_type else none -%}
    {%- set source = spark_cdc._completed(own or settings.source, rules) -%}
    {%- set is_message = load_type == 'events' and spark_cdc._is_message_format((settings.events or {}).get('format')) -%}
    {{ return(dict(
        source,
        options=source.options or {},
        columns=source.columns or {},
        text=source.format in ['csv', 'json'] or is_message if source.text is none else source.text,
        on_unexpected_column='ignore' if 'unexpected_columns' in spark_cdc._lifted(name) else source.on_unexpected_column,
    )) }}
{%- endmacro -%}


{#- What is given of some settings, and of the others the defaults of their rules (see
    _known_settings). Returns a dictionary. -#}
{%- macro _completed(given, rules) -%}
    {%- set whole = {} -%}
    {%- for name, rule in rules.items() -%}
        {%- do whole.update({name: rule.get('default')}) -%}
    {%- endfor -%}
    {%- do whole.update(given or {}) -%}
    {{ return(whole) }}
{%- endmacro -%}


{#- The entity that the model at hand belongs to. Returns text. -#}
{%- macro _entity_name() -%}
    {{ return(spark_cdc._strip_entity_affix(model.get('tested_node_unique_id', model['unique_id']).split('.')[2])) }}
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
    {%- set settings, rules = spark_cdc._settings_of(node), spark_cdc._known_settings().entity -%}
    {%- set events = settings.get('events') -%}
    {%- set needed, kept, columns = {}, ['role', 'sensitive', 'pseudonymize', 'pseudonym_domain', 'mask'], [] -%}
    {%- for setting in spark_cdc._needed_settings() -%}{%- do needed.update({setting: rules[setting]}) -%}{%- endfor -%}
    {%- for column in spark_cdc._columns_of(node) -%}
        {%- set meta = {} -%}
        {%- for name in kept if name in column.meta -%}{%- do meta.update({name: column.meta[name]}) -%}{%- endfor -%}
        {%- do columns.append(dict(column, meta=meta)) -%}
    {%- endfor -%}
    {%- set problems = spark_cdc._entity_name_problems(name)
        + spark_cdc._setting_problems('', settings, needed, settings.get('load_type'))
        + spark_cdc._column_problems(columns, settings, is_load=false)
        + spark_cdc._broken({'formats': spark_cdc._event_formats() | join(', ')}, [
            (settings.get('load_type') == 'events' and (events is not mapping or not spark_cdc._adapter(events.get('format'))),
             'events.format is missing, or no macro knows it: name the format of the events, one of %(formats)s'),
        ]) -%}
    {%- set named = [] -%}
    {%- for problem in problems -%}{%- do named.append(name ~ ': ' ~ problem ~ ' (in the YAML of stg_' ~ name ~ ').') -%}{%- endfor -%}
    {{ return(named) }}
{%- endmacro -%}


{#- The settings without which nobody knows what the ledger is. -#}
{%- macro _needed_settings() -%}{{ return(['load_type', 'business_date_type', 'events', 'dropped_columns', 'file_format']) }}{%- endmacro -%}


{#- A node of stg_<entity> without the settings that are wrong, but for those that are needed:
    what is not there has its default. Loads don't get so far, since they are refused for each
    wrong setting. -#}
{%- macro _needed_node(node) -%}
    {%- set given, known, usable = spark_cdc._settings_of(node), spark_cdc._known_settings(), {} -%}
    {%- for name, value in given.items() if name in known.entity -%}
        {%- if name in spark_cdc._needed_settings() or not spark_cdc._setting_problems('', {name: value}, {name: known.entity[name]}) -%}
            {%- do usable.update({name: value}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set columns, kept = [], ['role', 'sensitive', 'pseudonymize', 'pseudonym_domain', 'mask'] -%}
    {%- for column in spark_cdc._columns_of(node) -%}
        {%- set meta = {} -%}
        {%- for name, value in column.meta.items()
                if name in kept or name in known.column and spark_cdc._setting_error('', value, known.column[name]) is none -%}
            {%- do meta.update({name: value}) -%}
        {%- endfor -%}
        {%- do columns.append(dict(column, meta=meta)) -%}
    {%- endfor -%}
    {%- if usable.get('cluster_by') and spark_cdc._cluster_problems(columns, spark_cdc._names(usable.cluster_by)) -%}{%- do usable.pop('cluster_by') -%}{%- endif -%}
    {%- if usable.get('events') is mapping -%}
        {%- set events = {} -%}
        {%- for name, value in usable.events.items()
                if name not in known.events or not spark_cdc._setting_problems('', {name: value}, {name: known.events[name]}) -%}
            {%- do events.update({name: value}) -%}
        {%- endfor -%}
        {%- do usable.update({'events': events}) -%}
    {%- endif -%}
    {{ return(dict(node, meta={'spark_cdc': usable}, config={}, columns=columns)) }}
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
{%- macro _var(name) -%}
    {%- set given, rule = var(name, none), spark_cdc._known_settings().vars[name] -%}
    {{ return(rule.get('default') if given is none or spark_cdc._setting_error(name, given, rule) is not none else given) }}
{%- endmacro -%}


{#- The entity that a model belongs to, from the model's name: stg_orders, orders_ledger and
    orders_current are all of `orders`.
    Returns text. -#}
{%- macro _strip_entity_affix(model_name) -%}
    {%- set suffixes = 'ledger|committed|current|history|versions|changes|event_versions|bitemporal|events|rejects|quality' -%}
    {%- set match = modules.re.fullmatch('stg_(.*)|(.*?)_(?:' ~ suffixes ~ ')(?:_sensitive)?', model_name) -%}
    {%- if match -%}{{ return(match.group(1) or match.group(2) or '') }}{%- endif -%}
    {%- set message -%}
        spark_cdc: the model '{{ model_name }}' calls a macro of spark_cdc but its name says no entity. Accepted are stg_<entity> and
        {{- ' <entity>_events, _ledger, _committed, _current, _history, _versions, _changes, _event_versions, _bitemporal, _rejects, _quality: rename the model.' }}
    {%- endset -%}
    {% do exceptions.raise_compiler_error(message) %}
{%- endmacro -%}


{#- When the loads of an entity are squashed, and what that supersedes is dropped, without a
    person (see maintain()): its own settings come first, then the var spark_cdc_maintenance, then the
    defaults. Argument: settings (its meta.spark_cdc). Returns a dictionary: compact_loads,
    keep_loads, retention_hours; none where it is off. -#}
{%- macro _maintenance(settings) -%}
    {%- set policy = spark_cdc._completed(spark_cdc._var('spark_cdc_maintenance'), spark_cdc._known_settings().entity.maintenance.settings) -%}
    {%- do policy.update(settings.get('maintenance') or {}) -%}
    {{ return(policy) }}
{%- endmacro -%}


{#- What is wrong with the policy that an entity has in the end. Returns a list of texts. -#}
{%- macro _maintenance_problems(settings) -%}
    {%- set policy, problems = spark_cdc._maintenance(settings), [] -%}
    {%- if policy.values() | reject('none') | reject('number') | list -%}{{ return(problems) }}{%- endif -%}  {#- which is said elsewhere -#}
    {%- if policy.compact_loads is not none and policy.keep_loads > policy.compact_loads - 3 -%}
        {%- do problems.append('maintenance.keep_loads is ' ~ policy.keep_loads ~ ', and maintenance.compact_loads ' ~ policy.compact_loads
            ~ '; accepted is at most compact_loads minus 3: when there are compact_loads of them, all but the last keep_loads are squashed, '
            ~ 'and two take their place') -%}
    {%- endif -%}
    {%- if policy.retention_hours is not none and policy.retention_hours < 24 -%}
        {%- do problems.append('maintenance.retention_hours is ' ~ policy.retention_hours ~ '; accepted are numbers from 24 and null (off): a query that '
            ~ 'is running, and a load that is being written, are safe only while they are younger than that') -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The guards of an entity: what a load may do at most before it is stopped. Its own settings come
    first, then the var spark_cdc_guards, then the defaults. A guard that the var spark_cdc_skip_guards
    names is off for this run.
    Arguments: name (of the entity), settings (its meta.spark_cdc). Returns a dictionary: guard
    to limit, none where the guard is off. -#}
{%- macro _guards(name, settings) -%}
    {%- set limits = spark_cdc._completed(spark_cdc._var('spark_cdc_guards'), spark_cdc._known_settings().entity.guards.settings) -%}
    {%- do limits.update(settings.get('guards') or {}) -%}
    {%- for guard in spark_cdc._lifted(name) if guard in limits -%}
        {%- do limits.update({guard: none}) -%}
    {%- endfor -%}
    {{ return(limits) }}
{%- endmacro -%}


{#- The rules that an entity's rows are judged by, as a list: name, condition (SQL over the
    columns), action (warn, drop or fail) and at_most (the share of judged rows that may break
    it, or none). Of a rule that drops it is a tenth, unless it is said: as of rejected rows.
    Argument: settings (meta.spark_cdc). -#}
{%- macro _rules(settings) -%}
    {%- set known, rules = spark_cdc._known_settings().entity.rules.each, [] -%}
    {%- for name, given in (settings.get('rules') or {}).items() -%}
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
        {%- do problems.extend(spark_cdc._broken({'name': name, 'at_most': rule.get('at_most')}, [
            (not modules.re.fullmatch('[a-z][a-z0-9_]*', name | string),
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
    that stops the load, where that is lifted). Returns a list. -#}
{%- macro _quarantine(name, settings) -%}
    {%- set kinds, lifted = [], spark_cdc._lifted(name) -%}
    {%- set rejects = settings.get('on_reject') == 'quarantine' or 'rejects' in lifted -%}
    {%- set duplicates = settings.get('on_duplicate_key') == 'quarantine' -%}
    {%- set actions = spark_cdc._rules(settings) | map(attribute='action') | list -%}
    {%- for kind, is_set_aside in [
        ('null_keys', rejects), ('failed_casts', rejects), ('duplicate_keys', duplicates), ('dropped_rows', 'drop' in actions), ('failed_rules', false),
    ] if (is_set_aside or kind in lifted) and not (kind == 'duplicate_keys' and settings.get('load_type') == 'events')
            and not (kind == 'failed_rules' and 'fail' not in actions) -%}
        {%- do kinds.append(kind) -%}
    {%- endfor -%}
    {{ return(kinds) }}
{%- endmacro -%}


{#- The settings of a change-event entity (of _event_settings()) for a run that loads a full
    snapshot: its rows become events of a format of their own (_events_full_snapshot()), at the
    position that the run says. declared is what they are for other loads. -#}
{%- macro _snapshot_events(name, events) -%}
    {{ return(dict(
        events,
        format='full_snapshot',
        is_message=false,
        landed_row=false,
        order=[],
        tie_breaker=[],
        unavailable=none,
        technical=[],
        declared=events,
        snapshot=spark_cdc._snapshot_position(name, events.order),
    )) }}
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
    {%- set numbers = [] -%}
    {%- for part in parts if modules.re.fullmatch('-?[0-9]{1,18}', part | string | trim) -%}{%- do numbers.append(part | string | trim) -%}{%- endfor -%}
    {%- set time = spark_cdc._business_time(given) if type in ['date', 'timestamp', 'timestamp_ntz'] else none -%}
    {{ return({'time': time, 'type': type} if time is not none else {'numbers': numbers} if numbers and numbers | length == parts | length else none) }}
{%- endmacro -%}


{#- How numbers in text are written where that is not 1234.56: what a column says, else its
    source. Returns a dictionary {decimal, grouping, trailing_sign}; none where numbers are
    plain, or the column is no number in text. -#}
{%- macro _numbers(column, source) -%}
    {%- set given = {} -%}
    {%- for name in ['decimal', 'grouping', 'trailing_sign'] -%}
        {%- do given.update({name: source[name] if column[name] is none else column[name]}) -%}
    {%- endfor -%}
    {%- if column.encoding or not source.text or not given.values() | select | list -%}{{ return(none) }}{%- endif -%}
    {%- set is_number = spark_cdc._hash_type(column.data_type).get('kind') in spark_cdc._numbers_kinds() -%}
    {{ return(dict(given, decimal=given.decimal or '.') if is_number else none) }}
{%- endmacro -%}


{%- macro _numbers_kinds() -%}{{ return(['integer', 'decimal', 'float', 'double']) }}{%- endmacro -%}


{#- What is wrong with such settings of columns and of a source. Arguments: columns (of the
    YAML), source (setting), label (what stands before its names), is_message (whether columns
    come in JSON whatever the format). -#}
{%- macro _numbers_problems(columns, source, label, is_message) -%}
    {%- if source is not mapping -%}{{ return([]) }}{%- endif -%}
    {%- set names = ['decimal', 'grouping', 'trailing_sign'] -%}
    {%- set format = source.get('format', 'csv') -%}
    {%- set is_text = format in ['csv', 'json'] or source.get('text') or is_message -%}
    {%- set problems = [] -%}
    {%- for name in names if source.get(name) is not none and not is_text -%}
        {%- do problems.append(label ~ name ~ ' is given, but columns of ' ~ format ~ ' arrive typed: remove it, or set source.text: true where all '
            ~ 'columns hold text') -%}
    {%- endfor -%}
    {%- for column in columns -%}
        {%- set meta = column.meta -%}
        {%- set own = names | select('in', meta) | list -%}
        {%- set is_said = own or source.get('grouping') is not none -%}
        {%- set is_number = is_said and not meta.get('encoding') and spark_cdc._hash_type(column.get('data_type') or '').get('kind') in spark_cdc._numbers_kinds() -%}
        {%- set grouping = meta.get('grouping', source.get('grouping')) if is_number else none -%}
        {%- set values = {'name': column['name'], 'own': own | join(', '), 'type': column.get('data_type'), 'grouping': grouping,
                          'other': ',' if grouping == '.' else '.'} -%}
        {%- do problems.extend([] if not is_said else spark_cdc._broken(values, [
            (own and not is_number, "column '%(name)s' has %(own)s, but the type %(type)s: decimal, grouping and trailing_sign are for numbers without an "
             'encoding, remove it'),
            (grouping is not none and grouping == (meta.get('decimal') or source.get('decimal') or '.'),
             "column '%(name)s' has '%(grouping)s' both as decimal and as grouping: set decimal: '%(other)s', or another grouping"),
            (grouping == '.' and (format == 'json' or is_message),
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
