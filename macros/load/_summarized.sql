{#- Events were written under the name that the load had then: if another run has committed since, it may have another one now
    (checkpoint or not), and the events would be left out. -#}
{%- macro _check_same_plan(entity, events, load) -%}
    {%- for row in spark_cdc._query('show partitions ' ~ events) -%}
        {%- set load_id = row.partition.split('load_id=')[1] -%}
        {%- if load_id != load.load_id and load_id.endswith(load.load_id[-9:]) -%}
            {% do exceptions.raise_compiler_error(
                entity.name ~ ': another run committed a load between ' ~ entity.name ~ '_events, written as load ' ~ load_id ~ ', and '
                ~ entity.name ~ '_ledger, which would be load ' ~ load.load_id ~ '. Nothing was committed. Run the same command again.'
            ) %}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}


{#- What the events of the load are like (see _event_summary()); where nothing is loaded, as if everything occurred. -#}
{%- macro _summarized(entity, events, load, ledger) -%}
    {%- if spark_cdc._business_time() is none or not spark_cdc._is_load_command() -%}
        {{ return(spark_cdc._any_events()) }}
    {%- endif -%}
    {%- if (model['unique_id'].rsplit('.', 1)[0] ~ '.' ~ entity.name ~ '_events') not in selected_resources -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': the events of ' ~ load.business_time ~ ' are not part of this run, since ' ~ entity.name ~ '_events is '
            ~ 'not selected. Nothing was written. Run dbt run --select ' ~ entity.name ~ "_events+ --vars '{business_date: "
            ~ var('business_date') ~ "}'."
        ) %}
    {%- endif -%}
    {%- set summary = spark_cdc._event_summary(entity, events, load.applied, ledger, load) -%}
    {%- if summary.event_count == 0 -%}
        {%- do spark_cdc._check_same_plan(entity, spark_cdc._sibling(entity.name ~ '_events'), load) -%}
    {%- endif -%}
    {{ return(summary) }}
{%- endmacro -%}
