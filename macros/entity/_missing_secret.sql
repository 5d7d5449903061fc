{#- An entity with sensitive columns is not loaded without a secret. Arguments: name, node (of stg_<name>). Returns a list of texts. -#}
{%- macro _missing_secret_problems(name, node) -%}
    {%- set sensitive = spark_cdc._described_columns(node) | selectattr('sensitive') | list -%}
    {%- set secret = spark_cdc._secret_of(sensitive) -%}
    {{ return([spark_cdc._missing_secret_text(name, sensitive)] if secret is not none and spark_cdc._secret_is_missing(secret) else []) }}
{%- endmacro -%}


{#- What is said then. Arguments: name, sensitive (its sensitive columns). -#}
{%- macro _missing_secret_text(name, sensitive) -%}
{{ name }}: the hashes of its sensitive columns ({{ sensitive | map(attribute='name') | join(', ') }}) are keyed with a secret, and this user finds none in the schema {# -#}
{{ spark_cdc._sensitive_schema() }}. Make one: spark-cdc secrets init (with dbt alone: dbt run-operation spark_cdc.secrets --args {# -#}
'{action: init}'). If loads had one before, put the view spark_cdc_secret and its table back; with another one hashes are computed anew.
{%- endmacro -%}
