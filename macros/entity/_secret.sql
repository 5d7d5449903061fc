{#- The secret that loads take: the newest one. Where there is none, the name of a table that is not there, so that SQL can be looked at; loads are refused
    (_missing_secret_problems()). -#}
{%- macro _secret() -%}
    {%- set secrets = spark_cdc._secrets() -%}
    {{ return(secrets[-1] if secrets else spark_cdc._relation_in(spark_cdc._sensitive_schema(), 'spark_cdc_secret_missing')) }}
{%- endmacro -%}


{#- Its public name, which says nothing of it: when it was made, and a few digits of dbt's run. -#}
{%- macro _secret_id(secret) -%}{{ return(secret.identifier.removeprefix('spark_cdc_secret_')) }}{%- endmacro -%}
