{#- Refuses a load: adds it to cdc_loads as refused, with the guard and the message, then raises the message as an error. A
    macro can't catch errors, so the row is written first; the message goes into dbt's log before that.
    Arguments: entity, guard (what refused it, several with commas between), message, load (of plan_load(); none: it is
    planned anew), audit (what is known of the figures of audit_load()). -#}
{%- macro refuse_load(entity, guard, message, load=none, audit=none) -%}
    {%- set load_log = spark_cdc._load_log() -%}
    {%- if load_log is not none and spark_cdc._is_load_command() -%}
        {%- do log(message) -%}
        {%- do spark_cdc._ensure_load_log(load_log) -%}
        {%- do spark_cdc._record_load(
            load_log, entity, load or spark_cdc._planned_load(entity).load, audit or {}, refusal={'guard': guard, 'message': message}
        ) -%}
    {%- endif -%}
    {% do exceptions.raise_compiler_error(message) %}
{%- endmacro -%}


{#- The relation of cdc_loads; none where the project has no such model. A model that refuses a load need not depend on
    it, so ref() won't do. -#}
{%- macro _load_log() -%}
    {%- set node = graph.nodes.get('model.spark_cdc.cdc_loads') -%}
    {{ return(spark_cdc._relation_in(node.schema, node.alias) if node else none) }}
{%- endmacro -%}


{#- Creates cdc_loads where a run without that model needs it, and adds columns that it lacks. -#}
{%- macro _ensure_load_log(load_log) -%}
    {%- set existing = load_cached_relation(load_log) -%}
    {%- if existing is none -%}
        {%- do run_query(spark_cdc._create_load_log_sql(load_log)) -%}
    {%- endif -%}
    {%- set lacking = [] -%}
    {%- for name in spark_cdc._load_log_columns() if ('|-- ' ~ name ~ ': ') not in (existing.information or '' if existing else '') -%}
        {%- do lacking.append(name) -%}
    {%- endfor -%}
    {%- if lacking and existing is not none -%}
        {%- do spark_cdc._add_load_log_columns(load_log) -%}
    {%- endif -%}
{%- endmacro -%}
