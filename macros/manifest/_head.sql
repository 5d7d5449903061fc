{#- The manifest of the last commit. Where its process died before readers could see it, that is made good here first, and claims that are
    no longer needed go: only by commands that load. -#}
{%- macro _head(capture) -%}
    {%- set views = spark_cdc._commit_views(capture) -%}
    {%- set published = spark_cdc._published(capture, views) -%}
    {%- set newest = views.claims | max if views.claims else none -%}
    {%- if newest and not views.committed and not spark_cdc._is_there(capture.ledger) -%}
        {%- do spark_cdc._drop_claims(capture, views.claims) -%}  {#- of an entity that was dropped -#}
        {{ return(published) }}
    {%- elif newest and newest > published.sequence -%}
        {%- set claim = spark_cdc._claim(capture, newest) -%}
        {%- set claimed = spark_cdc._view_text(claim) -%}
        {%- if not spark_cdc._is_load_command() -%}
            {{ return(spark_cdc._parse_manifest(claimed, claim)) }}
        {%- endif -%}
        {%- do log(capture.entity.name ~ ': finishing commit ' ~ newest ~ ', which a run that ended too early had claimed', info=true) -%}
        {#- the query in a manifest's `show create table` -#}
        {%- set text = 'select\n    ' ~ claimed[claimed.index('/* spark_cdc manifest:'):] | trim -%}
        {%- do run_query(spark_cdc._replace_view_sql(capture.committed, text, published.existed)) -%}
        {%- set published = spark_cdc._parse_manifest(text, claim) -%}
    {%- endif -%}
    {%- set needless = [] -%}
    {%- for sequence in views.claims if sequence < published.sequence -%}{%- do needless.append(sequence) -%}{%- endfor -%}
    {%- do spark_cdc._drop_claims(capture, needless) -%}
    {{ return(published) }}
{%- endmacro -%}


{%- macro _drop_claims(capture, claims) -%}
    {%- for sequence in claims if spark_cdc._is_load_command() -%}
        {%- do run_query('drop view if exists ' ~ spark_cdc._claim(capture, sequence)) -%}
    {%- endfor -%}
{%- endmacro -%}
