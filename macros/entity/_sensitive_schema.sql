{#- The schema in which the sensitive columns of an entity lie, named by dbt's own rule, so that models with this `schema` lie there too. -#}
{%- macro _sensitive_schema() -%}
    {{ return(generate_schema_name(spark_cdc._var('spark_cdc_sensitive_schema'), none) | trim) }}
{%- endmacro -%}
