{#- Which of an entity's manifests there are, asked of the metastore and not of dbt's cache: {committed: whether the view is there,
    claims: numbers}. -#}
{%- macro _views_of(committed, name) -%}
    {%- set claims = [] -%}
    {%- set schema = spark_cdc._commits_schema(committed.schema) -%}
    {%- if spark_cdc._query('show schemas like ' ~ spark_cdc._literal(schema)) -%}
        {%- for row in spark_cdc._query('show views in ' ~ spark_cdc._quote(schema) ~ ' like ' ~ spark_cdc._literal(name ~ '_commit_*')) -%}
            {%- set number = modules.re.fullmatch(name ~ '_commit_([0-9]{6,})', row.viewName) -%}
            {%- if number -%}{%- do claims.append(number.group(1) | int) -%}{%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return({'committed': spark_cdc._is_there(committed, committed.identifier), 'claims': claims}) }}
{%- endmacro -%}


{#- Whether there is a table or view of a name beside a relation. -#}
{%- macro _is_there(relation, identifier) -%}
    {{ return(spark_cdc._query('show tables in ' ~ relation.without_identifier() ~ ' like ' ~ spark_cdc._literal(identifier)) | length > 0) }}
{%- endmacro -%}
