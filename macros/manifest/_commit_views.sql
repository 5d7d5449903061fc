{#- Which of an entity's manifests there are, asked of the metastore and not of dbt's cache: {committed: whether the view is there,
    claims: numbers of commits}. -#}
{%- macro _commit_views(capture) -%}
    {%- set name = capture.entity.name -%}
    {%- set schema = spark_cdc._commits_schema(capture.schema) -%}
    {%- set claims = [] -%}
    {%- if spark_cdc._query('show schemas like ' ~ spark_cdc._literal(schema)) -%}
        {%- for row in spark_cdc._query('show views in ' ~ spark_cdc._quote(schema) ~ ' like ' ~ spark_cdc._literal(name ~ '_commit_*')) -%}
            {%- set number = modules.re.fullmatch(name ~ '_commit_([0-9]{6,})', row.viewName) -%}
            {%- if number -%}{%- do claims.append(number.group(1) | int) -%}{%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return({'committed': spark_cdc._is_there(capture.committed), 'claims': claims}) }}
{%- endmacro -%}
