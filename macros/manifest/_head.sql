{#- The manifest of the last commit. Where its process died before readers could see it, that is made good here first, and claims that are
    no longer needed go: only by commands that load. -#}
{%- macro _head(capture) -%}
    {%- set claims = spark_cdc._claims(capture) -%}
    {%- set published = spark_cdc._published(capture) -%}
    {%- set newest = claims | max if claims else 0 -%}
    {%- if newest and not published.existed and not spark_cdc._is_there(capture.ledger) -%}
        {%- do spark_cdc._drop_claims(capture, claims) -%}  {#- of an entity that was dropped -#}
        {{ return(published) }}
    {%- elif newest > published.sequence -%}
        {%- set claim = spark_cdc._claim(capture, newest) -%}
        {%- set claimed = spark_cdc._view_text(claim) -%}
        {%- set manifest = spark_cdc._parse_manifest(claimed, claim) -%}
        {%- if not spark_cdc._is_load_command() -%}
            {{ return(manifest) }}
        {%- endif -%}
        {%- do log(capture.entity.name ~ ': finishing commit ' ~ newest ~ ', which a run that ended too early had claimed', info=true) -%}
        {#- the query in a manifest's `show create table` -#}
        {%- set text = 'select\n    ' ~ claimed[claimed.index('/* spark_cdc manifest:'):] | trim -%}
        {%- do run_query(spark_cdc._replace_view_sql(capture.committed, text, published.existed)) -%}
        {%- set published = manifest -%}
    {%- endif -%}
    {%- do spark_cdc._drop_claims(capture, claims | select('lt', published.sequence)) -%}
    {{ return(published) }}
{%- endmacro -%}
