{#- A business date as text: 2019-06-19, or 2019-06-19 00:15:00 where loads are finer than a day. -#}
{%- macro _time_text(entity, time) -%}
    {{ return(time.strftime('%Y-%m-%d' if entity.eff_type == 'date' else '%Y-%m-%d %H:%M:%S')) }}
{%- endmacro -%}


{#- A business date as a SQL literal of the type of eff_start_date. -#}
{%- macro _time_literal(entity, time) -%}
    {{ return(entity.eff_type ~ "'" ~ spark_cdc._time_text(entity, time) ~ "'") }}
{%- endmacro -%}


{#- This moment in UTC, as text. Argument: pattern (of strftime). -#}
{%- macro _time_now(pattern='%Y-%m-%d %H:%M:%S') -%}
    {{ return(modules.datetime.datetime.now(modules.pytz.utc).strftime(pattern)) }}
{%- endmacro -%}
