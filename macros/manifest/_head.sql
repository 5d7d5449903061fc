{#- The manifest of the last commit. The claims tell its number; where dbt's cache has that commit, the names of the claims are all that is read. Where the
    process of the last one died before readers could see it, that is made good here, by commands that load. Claims that are no longer needed
    stay: they tell that a row of cdc_loads may be missing (see _commit_load()).
    Arguments: capture, is_planned (whether a model of the entity has planned this run's load already: the others build on what it saw, in dbt's cache,
    and if somebody has committed since, the number of the commit is taken, see _publish()). -#}
{%- macro _head(capture, is_planned=false) -%}
    {%- set cached = spark_cdc._cached_manifest(capture.committed) if spark_cdc._is_begun_load() else none -%}
    {%- if cached is not none and is_planned -%}{{ return(cached) }}{%- endif -%}
    {%- set claims = spark_cdc._claims(capture) -%}
    {%- set newest = claims | max if claims else 0 -%}
    {%- if cached is not none and newest and cached.sequence == newest -%}{{ return(cached) }}{%- endif -%}
    {%- set published = spark_cdc._published(capture) -%}
    {%- if newest and not published.existed and not spark_cdc._is_there(capture.ledger) -%}
        {#- of an entity that was dropped; a metastore that does not answer, of which Spark says that what it holds is not there, fails here -#}
        {%- do spark_cdc._view_text(spark_cdc._claim(capture, newest)) -%}
        {%- do spark_cdc._drop_claims(capture, claims) -%}
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
        {%- do spark_cdc._show_manifest(capture, text, published.existed) -%}
        {{ return(manifest) }}
    {%- endif -%}
    {{ return(published) }}
{%- endmacro -%}
