{#- The business date of this run as it was given: the var `business_date`, else the environment
    variable SPARK_CDC_BUSINESS_DATE: a date for all entities, or a date for each. Argument: name
    (of the entity). Returns the value, which nobody has checked; none where there is none. -#}
{%- macro _business_date(name) -%}
    {%- set given = spark_cdc._of_run('business_date', 'SPARK_CDC_BUSINESS_DATE') -%}
    {{ return(given.get(name) if given is mapping else given) }}
{%- endmacro -%}


{#- A business date as a time. Argument: value (of _business_date(), for instance; YAML may have
    read it as a date, a timestamp or text).
    Returns a datetime (midnight for a date), or none where it is no such time; validate()
    reports that at the start of a run. -#}
{%- macro _business_time(value) -%}
    {%- set text = value | string | trim -%}
    {%- set shape = namespace(of=text) -%}
    {%- for digit in '123456789' -%}{%- set shape.of = shape.of.replace(digit, '0') -%}{%- endfor -%}
    {%- if shape.of.replace('T', ' ') not in ['0000-00-00', '0000-00-00 00:00', '0000-00-00 00:00:00'] -%}{{ return(none) }}{%- endif -%}
    {%- set parts = text.replace('T', '-').replace(' ', '-').replace(':', '-').split('-') | map('int') | list -%}
    {%- set year, month, day, hour, minute, second = (parts + [0, 0, 0])[:6] -%}
    {%- set is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) -%}
    {%- set days = (29 if is_leap else 28) if month == 2 else 30 if month in [4, 6, 9, 11] else 31 -%}
    {%- set is_time = year > 0 and 1 <= month <= 12 and 1 <= day <= days and hour < 24 and minute < 60 and second < 60 -%}
    {{ return(modules.datetime.datetime(*parts) if is_time else none) }}
{%- endmacro -%}


{#- The business time that this run loads of an entity; none as above, and where none is given.
    Argument: name (of the entity). -#}
{%- macro _business_time_of(name) -%}{{ return(spark_cdc._business_time(spark_cdc._business_date(name))) }}{%- endmacro -%}


{#- Whether this run loads an entity: an operation, or a run with a business date for it. Without
    one, dbt run and build make tables that are missing, and load nothing (validate()).
    Argument: name (of the entity). -#}
{%- macro _is_loading(name) -%}
    {%- set mode = spark_cdc._mode() -%}
    {{ return(mode == 'operate' or (mode == 'load' and spark_cdc._business_time_of(name) is not none)) }}
{%- endmacro -%}


{#- Whether a run would load an entity, but has no business date for it, and need not have one
    (the var spark_cdc_require_business_date). Argument: name (of the entity). -#}
{%- macro _is_undated(name) -%}
    {{ return(spark_cdc._is_run() and spark_cdc._business_date(name) is none and not spark_cdc._var('spark_cdc_require_business_date')) }}
{%- endmacro -%}


{#- Says which entities a run does not load, since it has no business date for them. Argument: names
    (of the entities). -#}
{%- macro _note_undated(names) -%}
    {%- do log('spark_cdc: no business date is given, so that nothing is loaded (' ~ spark_cdc._some_of(names) ~ '); all other models and the views '
        ~ "are built. To load: spark-cdc load, or the same command with --vars '{business_date: DATE}'", info=true) -%}
{%- endmacro -%}


{#- Stops a model whose entity can't be made as it is declared, in a run that loads nothing of it:
    validate() has let other models go on. Argument: name (of the entity). -#}
{%- macro _check_usable(name) -%}
    {%- set problems = spark_cdc._memo().get('unusable ' ~ name) or [] -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error('spark_cdc: ' ~ name ~ " can't be built as it is declared:\n  - " ~ problems | join('\n  - ')) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Refuses what dbt retry repeats without a business date: a process of its own does not know
    whether the run before had one in its environment. Argument: name (of the entity). -#}
{%- macro _check_dated(name) -%}
    {%- if spark_cdc._mode() != 'load' or spark_cdc._is_loading(name) or model['unique_id'] in selected_resources
            or model.get('tested_node_unique_id') -%}
        {{ return('') }}
    {%- endif -%}
    {%- set message -%}
{{ name }}: dbt retry has no business date, so that it can't tell whether the run before loaded {{ name }}. Nothing was written. If that run had {# -#}
SPARK_CDC_BUSINESS_DATE, repeat dbt retry with it. If it had none, repeat that run instead: dbt build
    {%- endset -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}


{#- What this run says of the load type of an entity: a type for all entities of the run, or a
    type for each: {orders: full}; none where it says nothing. -#}
{%- macro _load_type_of_run(name) -%}
    {%- set given = spark_cdc._of_run('spark_cdc_load_type', 'SPARK_CDC_LOAD_TYPE') or none -%}
    {{ return(given.get(name) if given is mapping else given) }}
{%- endmacro -%}


{#- The load types that the names of some loads tell: none of those that compact wrote. -#}
{%- macro _load_types_of_names(loads) -%}
    {%- set types, told = [], {'f': 'full', 'd': 'delta', 'e': 'events', 's': 'full'} -%}
    {%- for load_id in loads -%}{%- do types.append(told.get(load_id.split('-')[1][0])) -%}{%- endfor -%}
    {{ return(types) }}
{%- endmacro -%}


{#- The replay that this run is a part of, from the var `spark_cdc_replay`; none for any other run.
    validate() has checked it.
    Returns a dictionary: from (datetime), source (landing or archive). -#}
{%- macro _replay() -%}
    {%- set asked = var('spark_cdc_replay', none) -%}
    {{ return({'from': spark_cdc._business_time(asked['from']), 'source': asked.get('source') or 'landing'} if asked else none) }}
{%- endmacro -%}


{#- Whether this run reads archived events instead of what landed. -#}
{%- macro _is_archive_replay() -%}{{ return((spark_cdc._replay() or {}).get('source') == 'archive') }}{%- endmacro -%}


{#- What a run is given for its entities: a var, else an environment variable with one value for
    all of them, or JSON with a value for each: {"orders": "2024-03-04", "sites": "2024-03-02"}.
    The variable is read only while something runs: dbt parses a project anew when a variable
    changes that was read while it parsed. Arguments: name (of the var), variable. Returns the
    value or mapping, which nobody has checked; none where there is none. -#}
{%- macro _of_run(name, variable) -%}
    {%- set given = var(name, none) -%}
    {%- if given is not none or not execute -%}{{ return(given) }}{%- endif -%}
    {%- set text = env_var(variable, '') | trim -%}
    {{ return(fromjson(text, none) or text if text.startswith('{') else text or none) }}
{%- endmacro -%}


{#- What a var of one name or of a list of names holds, as a list: entities (spark_cdc_reset,
    spark_cdc_rekey) or guards (spark_cdc_skip_guards). -#}
{%- macro _listed(var_name) -%}
    {{ return(spark_cdc._names(var(var_name, none) or none)) }}
{%- endmacro -%}


{#- The guards that this run overrides for an entity: named alone, or behind the entity. Returns
    a list of names. -#}
{%- macro _skipped_guards(name) -%}
    {%- set guards = [] -%}
    {%- for guard in spark_cdc._listed('spark_cdc_skip_guards') if '.' not in guard or guard.startswith(name ~ '.') -%}{%- do guards.append(guard.removeprefix(name ~ '.')) -%}{%- endfor -%}
    {{ return(guards) }}
{%- endmacro -%}


{#- Whether the ledger of an entity is to start anew: asked for in so many words only. -#}
{%- macro _is_reset(name) -%}
    {{ return(flags.FULL_REFRESH and name in spark_cdc._listed('spark_cdc_reset')) }}
{%- endmacro -%}


{#- What selects the models of an entity, and none of the user's own that read them, in `dbt run
    --select`: their tag. Messages select in no other way, but by a model's name where they mean
    that model alone. -#}
{%- macro _selector(name) -%}{{ return('tag:' ~ spark_cdc._selector_tag(name)) }}{%- endmacro -%}


{%- macro _selector_tag(name) -%}{{ return('spark_cdc.' ~ name) }}{%- endmacro -%}


{#- The command that loads a business date of an entity, as messages print it: that of the tool that
    was typed, for the entity alone, with what this run was told of it. A ledger that starts anew
    and keys that are hashed anew take dbt.
    Arguments: entity, time (business date, as text; none: DATE), skip (guards to skip beside
    those that this run overrides), load_type, replay ({from, source}) and reset (in the place of
    the run's). Returns a text. -#}
{%- macro _load_command(entity, time, skip=[], load_type=none, replay=none, reset=false) -%}
    {%- set skipped = [] -%}
    {%- for one in spark_cdc._listed('spark_cdc_skip_guards') if '.' not in one or one.startswith(entity.name ~ '.') -%}{%- do skipped.append(one) -%}{%- endfor -%}
    {%- for guard in skip -%}{%- do skipped.append(entity.name ~ '.' ~ guard) -%}{%- endfor -%}
    {%- set position, of_run = var('spark_cdc_position', none), spark_cdc._replay() -%}
    {%- set told = {
        'time': (time or 'DATE') | string,
        'load_type': load_type or spark_cdc._load_type_of_run(entity.name),
        'position': position.get(entity.name) if position is mapping else position,
        'is_rekeyed': entity.name in spark_cdc._listed('spark_cdc_rekey'),
        'is_reset': reset,
        'skipped': skipped | unique | list,
        'replay': replay or (dict(of_run, **{'from': of_run['from'].strftime('%Y-%m-%d %H:%M:%S').removesuffix(' 00:00:00')}) if of_run else none),
    } -%}
    {%- set is_ours = spark_cdc._is_of_command_line() and not told.is_rekeyed and not told.is_reset -%}
    {{ return((spark_cdc._own_load_command if is_ours else spark_cdc._dbt_load_command)(entity.name, told)) }}
{%- endmacro -%}


{%- macro _own_load_command(name, told) -%}
    {%- set words = ['spark-cdc', 'replay' if told.replay else 'load'] -%}
    {%- if told.replay -%}
        {%- do words.extend([name, '--from', spark_cdc._word(told.replay['from'])]) -%}
        {%- if told.time != 'DATE' -%}{%- do words.extend(['--dates', spark_cdc._word(told.time)]) -%}{%- endif -%}
        {%- if told.replay.get('source') == 'archive' -%}{%- do words.extend(['--source', 'archive']) -%}{%- endif -%}
    {%- else -%}
        {%- do words.extend([spark_cdc._word(told.time), name]) -%}
        {%- if told.load_type -%}{%- do words.extend(['--load-type', told.load_type]) -%}{%- endif -%}
        {%- if told.position is not none -%}{%- do words.extend(['--position', spark_cdc._word(told.position | string)]) -%}{%- endif -%}
    {%- endif -%}
    {%- if told.skipped -%}{%- do words.extend(['--skip-guards'] + told.skipped) -%}{%- endif -%}
    {{ return(words | join(' ') ~ env_var('SPARK_CDC_OPTIONS', '')) }}
{%- endmacro -%}


{%- macro _dbt_load_command(name, told) -%}
    {%- set from = (told.replay or {}).get('from', '') -%}
    {%- set vars = ['business_date: ' ~ ('"' ~ told.time ~ '"' if ' ' in told.time else told.time)] -%}
    {%- for setting, value in {
        'spark_cdc_load_type': '{' ~ name ~ ': ' ~ told.load_type ~ '}' if told.load_type else none,
        'spark_cdc_position': '{' ~ name ~ ': ' ~ tojson(told.position) ~ '}' if told.position is not none else none,
        'spark_cdc_rekey': '[' ~ name ~ ']' if told.is_rekeyed else none,
        'spark_cdc_skip_guards': '[' ~ told.skipped | join(', ') ~ ']' if told.skipped else none,
        'spark_cdc_replay': '{from: ' ~ ('"' ~ from ~ '"' if ' ' in from else from) ~ (', source: archive' if told.replay.get('source') == 'archive' else '') ~ '}'
            if told.replay else none,
        'spark_cdc_reset': '[' ~ name ~ ']' if told.is_reset else none,
    }.items() if value -%}
        {%- do vars.append(setting ~ ': ' ~ value) -%}
    {%- endfor -%}
    {%- set command -%}
dbt run {{ '--full-refresh ' if told.is_reset }}--select {{ spark_cdc._selector(name) }} --vars '{{ '{' ~ vars | join(', ') ~ '}' }}'
    {%- endset -%}
    {{ return(command) }}
{%- endmacro -%}


{#- A value as a word of a shell. -#}
{%- macro _word(text) -%}{{ return("'" ~ text ~ "'" if ' ' in text else text) }}{%- endmacro -%}


{#- The command that loads in spite of some guards. -#}
{%- macro _skip_command(entity, load, guards) -%}
    {%- set of_many = load.get('imported') or ('spark-cdc load ' ~ load.backfill ~ ' ' ~ entity.name ~ ' --bulk' if load.get('backfill') else none) -%}
    {{ return(of_many ~ ' --skip-guards ' ~ entity.name ~ '.' ~ guards | join(' ' ~ entity.name ~ '.') if of_many
        else spark_cdc._load_command(entity, load.business_time, skip=guards)) }}
{%- endmacro -%}
