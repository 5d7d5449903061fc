{#- Whether this is a run that loads and has begun with validate(), which creates the schemas of claims: an operation has not. -#}
{%- macro _is_begun_load() -%}
    {{ return(spark_cdc._is_load_command() and flags.WHICH != 'run-operation') }}
{%- endmacro -%}
