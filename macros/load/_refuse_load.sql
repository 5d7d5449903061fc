{#- Refuses a load: logs the message, adds the load to cdc_loads as refused, then raises the message. Arguments: entity, guard (what refused
    it, several with commas between), message, load (of _plan_load(); else it is planned anew), audit (what is known of _audit_load()'s figures). -#}
{%- macro _refuse_load(entity, guard, message, load=none, audit=none) -%}
    {#- of what is no text, a character for each run: a terminal might take it for commands -#}
    {%- set message = modules.re.sub('[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\ufffd]+', '\ufffd', message) -%}
    {%- set load_log = spark_cdc._load_log() -%}
    {%- if spark_cdc._is_plan() -%}{%- do spark_cdc._print_plan_of_load(entity, load, audit or {}, refusal={'guard': guard, 'message': message}) -%}{%- endif -%}
    {%- if load_log is not none and spark_cdc._is_load_command() -%}
        {%- do log(message) -%}
        {%- do spark_cdc._ensure_load_log(load_log) -%}
        {%- do spark_cdc._record_load(
            load_log, entity, load or spark_cdc._planned_run(spark_cdc._capture_of_model()).load, audit or {},
            refusal={'guard': guard, 'message': message}
        ) -%}
    {%- endif -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}
