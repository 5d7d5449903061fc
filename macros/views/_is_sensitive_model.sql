{#- Whether the model at hand shows sensitive columns; if so, its schema is theirs. -#}
{%- macro _is_sensitive_model() -%}
    {%- set is_sensitive = model['unique_id'].endswith('_sensitive') -%}
    {%- if is_sensitive -%}{%- do config(schema=spark_cdc._var('spark_cdc_sensitive_schema')) -%}{%- endif -%}
    {{ return(is_sensitive) }}
{%- endmacro -%}
