{#- The name of a load: business date or time, kind, and eight characters of dbt's invocation id, which make it
    unique to the attempt. The kind is f (full), d (delta) or e (events), with a c behind it if the load is a checkpoint.
    Names sort by business time. Example: 20190619-fc-1b2c3d4e. -#}
{%- macro _load_id(entity, time, is_checkpoint) -%}
    {%- set day = time.strftime('%Y%m%d') -%}
    {%- set clock = time.strftime('T%H%M%S') -%}
    {{ return(
        day ~ ('' if clock == 'T000000' else clock) ~ '-' ~ entity.load_type[0] ~ ('c' if is_checkpoint else '')
        ~ '-' ~ local_md5(invocation_id)[:8]
    ) }}
{%- endmacro -%}


{#- The business time in a load's name, as a datetime. -#}
{%- macro _load_time(load_id) -%}
    {%- set stamp = load_id.split('-')[0] -%}
    {%- set pattern = '%Y%m%dT%H%M%S' if 'T' in stamp else '%Y%m%d' -%}
    {{ return(modules.datetime.datetime.strptime(stamp, pattern)) }}
{%- endmacro -%}


{#- The business times of loads, as texts. -#}
{%- macro _times_of(entity, loads) -%}
    {%- set times = [] -%}
    {%- for load_id in loads -%}
        {%- do times.append(spark_cdc._time_text(entity, spark_cdc._load_time(load_id))) -%}
    {%- endfor -%}
    {{ return(times) }}
{%- endmacro -%}


{%- macro _is_checkpoint(load_id) -%}{{ return(load_id.split('-')[1].endswith('c')) }}{%- endmacro -%}


{%- macro _is_full(load_id) -%}{{ return(load_id.split('-')[1].startswith('f')) }}{%- endmacro -%}


{#- Whether a load is the history of others that compact squashed into it. -#}
{%- macro _is_history(load_id) -%}{{ return(load_id.split('-')[1] == 'h') }}{%- endmacro -%}


{#- Whether a load is one that compact wrote. -#}
{%- macro _is_squashed(load_id) -%}{{ return(load_id.split('-')[1].startswith('h')) }}{%- endmacro -%}
