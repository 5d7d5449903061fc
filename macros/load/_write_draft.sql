{#- Adds a load to the draft: <entity>_replay is altered, and nothing else. -#}
{%- macro _write_draft(entity, committed, text, manifest, load, audit) -%}
    {%- if audit.record.replaced != load.replaced -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': another run committed ' ~ load.business_time ~ ' anew while the replay read it. Nothing was committed and readers see what '
            ~ 'they saw before. Run the same command again.'
        ) %}
    {%- endif -%}
    {%- call statement('main') -%}
        {{ spark_cdc._replace_view_sql(spark_cdc._relation_in(committed.schema, entity.name ~ '_replay'), text, manifest.existed) }}
    {%- endcall -%}
    {%- do log(spark_cdc._load_summary(load, audit) ~ ' in the draft', info=true) -%}
{%- endmacro -%}
