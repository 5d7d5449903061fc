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


{#- The `dbt run` that loads a business date of an entity, as messages print it: the entity's models
    alone, and what this run was told of it.
    Arguments: entity, time (business date, as text; none: DATE), skip (guards to skip beside
    those that this run overrides), more (other vars). -#}
{%- macro _load_command(entity, time, skip=[], more={}) -%}
    {%- set skipped = [] -%}
    {%- for one in spark_cdc._listed('spark_cdc_skip_guards') if '.' not in one or one.startswith(entity.name ~ '.') -%}{%- do skipped.append(one) -%}{%- endfor -%}
    {%- for guard in skip -%}{%- do skipped.append(entity.name ~ '.' ~ guard) -%}{%- endfor -%}
    {%- set position = var('spark_cdc_position', none) -%}
    {%- set type, replay = spark_cdc._load_type_of_run(entity.name), spark_cdc._replay() -%}
    {%- set from = replay['from'].strftime('%Y-%m-%d %H:%M:%S').removesuffix(' 00:00:00') if replay else '' -%}
    {%- set given = {
        'spark_cdc_load_type': '{' ~ entity.name ~ ': ' ~ type ~ '}' if type else none,
        'spark_cdc_position': '{' ~ entity.name ~ ': ' ~ tojson(position.get(entity.name) if position is mapping else position) ~ '}' if position is not none else none,
        'spark_cdc_rekey': '[' ~ entity.name ~ ']' if entity.name in spark_cdc._listed('spark_cdc_rekey') else none,
        'spark_cdc_skip_guards': '[' ~ skipped | unique | join(', ') ~ ']' if skipped else none,
        'spark_cdc_replay': '{from: ' ~ ('"' ~ from ~ '"' if ' ' in from else from) ~ (', source: archive' if replay.source == 'archive' else '') ~ '}' if replay else none,
    } -%}
    {%- set time = (time or 'DATE') | string -%}
    {%- set vars = ['business_date: ' ~ ('"' ~ time ~ '"' if ' ' in time else time)] -%}
    {%- for name, value in dict(given, **more).items() if value -%}{%- do vars.append(name ~ ': ' ~ value) -%}{%- endfor -%}
    dbt run {{ '--full-refresh ' if more.get('spark_cdc_reset') }}--select {{ spark_cdc._selector(entity.name) }} --vars '{{ '{' ~ vars | join(', ') ~ '}' }}'
{%- endmacro -%}


{#- The command that loads in spite of some guards. -#}
{%- macro _skip_command(entity, load, guards) -%}
    {%- if load.get('backfill') -%}
        {{ return('spark-cdc load ' ~ load.backfill ~ ' --bulk --select ' ~ entity.name ~ ' --skip-guards ' ~ entity.name ~ '.' ~ guards | join(' ' ~ entity.name ~ '.')) }}
    {%- endif -%}
    {{ return(spark_cdc._load_command(entity, load.business_time, skip=guards)) }}
{%- endmacro -%}
