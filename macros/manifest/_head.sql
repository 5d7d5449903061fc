{#- The manifest of the last commit. Where its process died before readers could see it, that is made good here first, and claims that are
    no longer needed go: only by commands that load. -#}
{%- macro _head(committed, name) -%}
    {%- set views = spark_cdc._views_of(committed, name) -%}
    {%- set published = spark_cdc._published(committed, views) -%}
    {%- set newest = views.claims | sort | last -%}
    {%- if newest and not views.committed and not spark_cdc._is_there(committed, name ~ '_ledger') -%}
        {%- do spark_cdc._drop_claims(committed, name, views.claims) -%}  {#- of an entity that was dropped -#}
        {{ return(published) }}
    {%- elif newest and newest > published.sequence -%}
        {%- set claim = spark_cdc._claim(committed, name, newest) -%}
        {%- set text = spark_cdc._query_of_view(spark_cdc._view_text(claim)) -%}
        {%- if not spark_cdc._is_load_command() -%}
            {{ return(spark_cdc._parse_manifest(text, claim)) }}
        {%- endif -%}
        {%- do log(name ~ ': finishing commit ' ~ newest ~ ', which a run that ended too early had claimed', info=true) -%}
        {%- do run_query(spark_cdc._replace_view_sql(committed, text, published.existed)) -%}
        {%- set published = spark_cdc._parse_manifest(text, claim) -%}
    {%- endif -%}
    {%- set needless = [] -%}
    {%- for sequence in views.claims if sequence < published.sequence -%}{%- do needless.append(sequence) -%}{%- endfor -%}
    {%- do spark_cdc._drop_claims(committed, name, needless) -%}
    {{ return(published) }}
{%- endmacro -%}


{%- macro _drop_claims(committed, name, claims) -%}
    {%- for sequence in claims if spark_cdc._is_load_command() -%}
        {%- do run_query('drop view if exists ' ~ spark_cdc._claim(committed, name, sequence)) -%}
    {%- endfor -%}
{%- endmacro -%}
