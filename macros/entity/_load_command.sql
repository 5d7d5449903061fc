{#- The `dbt run` that loads a business date of an entity, as messages print it: the entity's models alone, and what this run was told of it.
    Arguments: entity, time (business date, as text; none: DATE), lift (guards to override beside those that this run overrides), more (other vars). -#}
{%- macro _load_command(entity, time, lift=[], more={}) -%}
    {%- set lifted = [] -%}
    {%- for one in spark_cdc._listed('spark_cdc_lift') if '.' not in one or one.startswith(entity.name ~ '.') -%}{%- do lifted.append(one) -%}{%- endfor -%}
    {%- for guard in lift -%}{%- do lifted.append(entity.name ~ '.' ~ guard) -%}{%- endfor -%}
    {%- set position = var('spark_cdc_position', none) -%}
    {%- set type = spark_cdc._load_type_of_run(entity.name) -%}
    {%- set given = {
        'spark_cdc_load_type': '{' ~ entity.name ~ ': ' ~ type ~ '}' if type else none,
        'spark_cdc_position': '{' ~ entity.name ~ ': ' ~ tojson(position.get(entity.name) if position is mapping else position) ~ '}' if position is not none else none,
        'spark_cdc_rekey': '[' ~ entity.name ~ ']' if entity.name in spark_cdc._listed('spark_cdc_rekey') else none,
        'spark_cdc_lift': '[' ~ lifted | unique | join(', ') ~ ']' if lifted else none,
        'spark_cdc_replay': spark_cdc._load_command_replay(),
    } -%}
    {%- set time = (time or 'DATE') | string -%}
    {%- set vars = ['business_date: ' ~ ('"' ~ time ~ '"' if ' ' in time else time)] -%}
    {%- for name, value in dict(given, **more).items() if value -%}{%- do vars.append(name ~ ': ' ~ value) -%}{%- endfor -%}
    dbt run {{ '--full-refresh ' if more.get('spark_cdc_wipe') }}--select {{ spark_cdc._selector(entity.name) }} --vars '{{ '{' ~ vars | join(', ') ~ '}' }}'
{%- endmacro -%}


{#- The var spark_cdc_replay of this run as such a command has it; none outside of a replay. -#}
{%- macro _load_command_replay() -%}
    {%- set replay = spark_cdc._replay() -%}
    {%- if replay is none -%}{{ return(none) }}{%- endif -%}
    {%- set from = replay['from'].strftime('%Y-%m-%d' if replay['from'].strftime('%H%M%S') == '000000' else '%Y-%m-%d %H:%M:%S') -%}
    {{ return('{from: ' ~ ('"' ~ from ~ '"' if ' ' in from else from) ~ (', source: archive' if replay.source == 'archive' else '') ~ '}') }}
{%- endmacro -%}
