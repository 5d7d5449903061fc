{#- Entities with sensitive columns are not loaded without a secret. Arguments: loads (of _run_problems()). Returns a list of texts. -#}
{%- macro _missing_secret_problems(loads) -%}
    {%- set problems = [] -%}
    {%- for name, _ in loads -%}
        {%- set sensitive = spark_cdc._entity(name).sensitive | map(attribute='name') | join(', ') -%}
        {%- if sensitive and not spark_cdc._secrets() -%}
            {%- do problems.append(name ~ ': the hashes of its sensitive columns (' ~ sensitive ~ ') are keyed with a secret, and the schema '
                ~ spark_cdc._var('spark_cdc_sensitive_schema') ~ ' has none that this user can see. Make one: spark-cdc secrets init (with dbt alone: '
                ~ "dbt run-operation spark_cdc.secrets --args '{action: init}'). If there was one, put its table back instead, or hashes are computed anew.") -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
