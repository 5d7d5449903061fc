{#- The secret that loads take: a table of the restricted schema, with the key of HMAC-MD5 as RFC 2104 pads it in its one row (keys, a struct of inner_key
    and outer_key, 64 bytes each). The view spark_cdc_secret beside it says which, and altering it is a rotation. dbt looks at the schema once per run, so
    that a run takes one secret to its end. Without one it is the name of a table that is not there: SQL can be looked at, and loads are refused
    (_missing_secret_problems()). -#}
{%- macro _secret() -%}
    {%- set view = spark_cdc._secret_view() -%}
    {%- set cached = load_cached_relation(view) if execute else none -%}
    {%- set named = spark_cdc._secret_named_in(cached.information or spark_cdc._query('show create table ' ~ view)[0].createtab_stmt) if cached is not none else none -%}
    {{ return(spark_cdc._relation_in(view.schema, named or 'spark_cdc_secret_missing')) }}
{%- endmacro -%}


{%- macro _secret_view() -%}{{ return(spark_cdc._relation_in(spark_cdc._sensitive_schema(), 'spark_cdc_secret')) }}{%- endmacro -%}


{#- The name of the table of which the text of that view tells; none, if of none. -#}
{%- macro _secret_named_in(text) -%}
    {%- set found = modules.re.search('spark_cdc_secret_[0-9]\\w*', text) -%}
    {{ return(found.group() if found else none) }}
{%- endmacro -%}


{%- macro _secret_is_missing(secret) -%}{{ return(secret.identifier == 'spark_cdc_secret_missing') }}{%- endmacro -%}


{#- Its public name, which says nothing of it: when it was made, and a few digits of dbt's run. -#}
{%- macro _secret_id(secret) -%}{{ return(secret.identifier.removeprefix('spark_cdc_secret_')) }}{%- endmacro -%}


{#- The secret of such a name: a table. -#}
{%- macro _secret_of_id(id) -%}{{ return(spark_cdc._relation_in(spark_cdc._sensitive_schema(), 'spark_cdc_secret_' ~ id)) }}{%- endmacro -%}
