{#- The tables with secrets for the hashes of sensitive columns, oldest first: in the restricted schema, one each, whose name ends in the secret's id.
    A table has one row, with the key of HMAC-MD5 as RFC 2104 pads it: keys, a struct of inner_key and outer_key, 64 bytes each. dbt looks at the
    schema once per run, so that a run takes one secret to its end. Returns a list of relations. -#}
{%- macro _secrets() -%}
    {%- set schema = spark_cdc._sensitive_schema() -%}
    {%- set names = [] -%}
    {%- for relation in adapter.list_relations(none, schema) if execute and relation.identifier.startswith('spark_cdc_secret_') -%}
        {%- do names.append(relation.identifier) -%}
    {%- endfor -%}
    {%- set found = [] -%}
    {%- for name in names | sort -%}{%- do found.append(spark_cdc._relation_in(schema, name)) -%}{%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
