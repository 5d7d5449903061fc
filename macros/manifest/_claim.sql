{#- The claims of an entity's commits lie in a schema of their own, because dbt's look at the models' schema fails if a view goes while it
    lasts. -#}
{%- macro _claims_schema(capture) -%}{{ return(capture.schema ~ '_commits') }}{%- endmacro -%}


{#- Creates the schemas of the claims, once for all entities of a run. Arguments: captures (dictionaries with schema). -#}
{%- macro _create_claims_schemas(captures) -%}
    {%- for schema in captures | map(attribute='schema') | unique -%}
        {%- do spark_cdc._send('create schema if not exists ' ~ spark_cdc._quote(spark_cdc._claims_schema({'schema': schema}))) -%}
    {%- endfor -%}
{%- endmacro -%}


{#- The relation that claims a commit. -#}
{%- macro _claim(capture, sequence) -%}
    {{ return(spark_cdc._relation_in(spark_cdc._claims_schema(capture), '%s_commit_%06d' % (capture.entity.name, sequence))) }}
{%- endmacro -%}


{#- The numbers of the commits that are claimed, asked of the metastore and not of dbt's cache. Their names alone are read: `show table extended` would
    fail where another run drops one of them meanwhile. -#}
{%- macro _claims(capture) -%}
    {%- set schema, prefix = spark_cdc._claims_schema(capture), capture.entity.name ~ '_commit_' -%}
    {%- set claims = [] -%}
    {%- if spark_cdc._is_begun_load() or spark_cdc._query('show schemas like ' ~ spark_cdc._literal(schema)) -%}
        {%- for row in spark_cdc._query('show views in ' ~ spark_cdc._quote(schema) ~ ' like ' ~ spark_cdc._literal(prefix ~ '*'))
                if modules.re.fullmatch(prefix ~ '[0-9]{6,}', row.viewName) -%}
            {%- do claims.append(row.viewName[prefix | length:] | int) -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(claims) }}
{%- endmacro -%}


{%- macro _drop_claims(capture, claims) -%}
    {%- for sequence in claims if spark_cdc._is_load_command() -%}
        {%- do spark_cdc._send('drop view if exists ' ~ spark_cdc._claim(capture, sequence)) -%}
    {%- endfor -%}
{%- endmacro -%}
