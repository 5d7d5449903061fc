{#- The guards of an entity: what a load may do at most before it is stopped. Its own settings come first, then the var
    spark_cdc_guards, then the defaults. A guard that the var spark_cdc_lift names is off for this run.
    Arguments: name (of the entity), settings (its meta.spark_cdc). Returns a dictionary: guard to limit, none where
    the guard is off. -#}
{%- macro _guards(name, settings) -%}
    {%- set limits = spark_cdc._completed(spark_cdc._var('spark_cdc_guards'), spark_cdc._known_settings().entity.guards.settings) -%}
    {%- do limits.update(settings.get('guards') or {}) -%}
    {%- for guard in limits | list if spark_cdc._is_lifted(name, guard) -%}
        {%- do limits.update({guard: none}) -%}
    {%- endfor -%}
    {{ return(limits) }}
{%- endmacro -%}
