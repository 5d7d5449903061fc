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
    {%- set date = '(?!0000)([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])' -%}
    {%- set clock = '([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?' -%}
    {%- set match = modules.re.fullmatch(date ~ '(?:[T ]' ~ clock ~ ')?', value | string | trim) -%}
    {%- if not match -%}{{ return(none) }}{%- endif -%}
    {%- set parts = match.groups('0') | map('int') | list -%}
    {%- set year, month, day = parts[:3] -%}
    {%- set is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) -%}
    {%- set days = (29 if is_leap else 28) if month == 2 else 30 if month in [4, 6, 9, 11] else 31 -%}
    {{ return(modules.datetime.datetime(*parts) if day <= days else none) }}
{%- endmacro -%}


{#- The business time that this run loads of an entity; none as above, and where none is given.
    Argument: name (of the entity). -#}
{%- macro _business_time_of(name) -%}{{ return(spark_cdc._business_time(spark_cdc._business_date(name))) }}{%- endmacro -%}


{#- What this run says of the load type of an entity: a type for all entities of the run, or a
    type for each: {orders: full}; none where it says nothing. -#}
{%- macro _load_type_of_run(name) -%}
    {%- set given = spark_cdc._load_types_given() -%}
    {{ return(given.get(name) if given is mapping else given) }}
{%- endmacro -%}


{#- The same as it was given, which nobody has checked. -#}
{%- macro _load_types_given() -%}
    {{ return(spark_cdc._of_run('spark_cdc_load_type', 'SPARK_CDC_LOAD_TYPE') or none) }}
{%- endmacro -%}


{#- The load type that the name of a load tells: none of those that compact wrote. -#}
{%- macro _load_type_of_name(load_id) -%}
    {{ return({'f': 'full', 'd': 'delta', 'e': 'events', 's': 'full'}.get(load_id.split('-')[1][0])) }}
{%- endmacro -%}


{#- The same of several loads, in their order. -#}
{%- macro _load_types_of_names(loads) -%}
    {%- set types = [] -%}
    {%- for load_id in loads -%}{%- do types.append(spark_cdc._load_type_of_name(load_id)) -%}{%- endfor -%}
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
{%- macro _lifted(name) -%}
    {%- set guards = [] -%}
    {%- for guard in spark_cdc._listed('spark_cdc_skip_guards') if '.' not in guard or guard.startswith(name ~ '.') -%}
        {%- do guards.append(guard.removeprefix(name ~ '.')) -%}
    {%- endfor -%}
    {{ return(guards) }}
{%- endmacro -%}


{#- Whether this run loads a full snapshot of a source that numbers its events anew: positions of
    loads before it do not count. Who lifts late_share for a full snapshot says so. -#}
{%- macro _is_restart(entity) -%}
    {{ return((entity.events and entity.events.get('snapshot') or false) and 'late_share' in spark_cdc._lifted(entity.name)) }}
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
    Arguments: entity, time (business date, as text; none: DATE), lift (guards to override beside
    those that this run overrides), more (other vars). -#}
{%- macro _load_command(entity, time, lift=[], more={}) -%}
    {%- set lifted = [] -%}
    {%- for one in spark_cdc._listed('spark_cdc_skip_guards') if '.' not in one or one.startswith(entity.name ~ '.') -%}{%- do lifted.append(one) -%}{%- endfor -%}
    {%- for guard in lift -%}{%- do lifted.append(entity.name ~ '.' ~ guard) -%}{%- endfor -%}
    {%- set position = var('spark_cdc_position', none) -%}
    {%- set type = spark_cdc._load_type_of_run(entity.name) -%}
    {%- set given = {
        'spark_cdc_load_type': '{' ~ entity.name ~ ': ' ~ type ~ '}' if type else none,
        'spark_cdc_position': '{' ~ entity.name ~ ': ' ~ tojson(position.get(entity.name) if position is mapping else position) ~ '}' if position is not none else none,
        'spark_cdc_rekey': '[' ~ entity.name ~ ']' if entity.name in spark_cdc._listed('spark_cdc_rekey') else none,
        'spark_cdc_skip_guards': '[' ~ lifted | unique | join(', ') ~ ']' if lifted else none,
        'spark_cdc_replay': spark_cdc._load_command_replay(),
    } -%}
    {%- set time = (time or 'DATE') | string -%}
    {%- set vars = ['business_date: ' ~ ('"' ~ time ~ '"' if ' ' in time else time)] -%}
    {%- for name, value in dict(given, **more).items() if value -%}{%- do vars.append(name ~ ': ' ~ value) -%}{%- endfor -%}
    dbt run {{ '--full-refresh ' if more.get('spark_cdc_reset') }}--select {{ spark_cdc._selector(entity.name) }} --vars '{{ '{' ~ vars | join(', ') ~ '}' }}'
{%- endmacro -%}


{#- The var spark_cdc_replay of this run as such a command has it; none outside of a replay. -#}
{%- macro _load_command_replay() -%}
    {%- set replay = spark_cdc._replay() -%}
    {%- if replay is none -%}{{ return(none) }}{%- endif -%}
    {%- set from = replay['from'].strftime('%Y-%m-%d' if replay['from'].strftime('%H%M%S') == '000000' else '%Y-%m-%d %H:%M:%S') -%}
    {{ return('{from: ' ~ ('"' ~ from ~ '"' if ' ' in from else from) ~ (', source: archive' if replay.source == 'archive' else '') ~ '}') }}
{%- endmacro -%}


{#- The command that loads in spite of some guards. -#}
{%- macro _lift_command(entity, load, guards) -%}
    {%- if load.get('backfill') -%}
        {{ return('spark-cdc backfill ' ~ load.backfill ~ ' --select ' ~ entity.name ~ ' --skip-guards ' ~ entity.name ~ '.' ~ guards | join(' ' ~ entity.name ~ '.')) }}
    {%- endif -%}
    {{ return(spark_cdc._load_command(entity, load.business_time, lift=guards)) }}
{%- endmacro -%}
