{#- Tags: the manifest of a state that somebody gave a name, as a view beside the claims, <schema>_commits.<entity>_tag_<name>. It has the
    columns of <entity>_committed, so that what reads that view can read it as well. In its figures tag says {name, entity, at}. -#}
{%- macro _tag(capture, name) -%}
    {{ return(spark_cdc._relation_in(spark_cdc._claims_schema(capture), capture.entity.name ~ '_tag_' ~ name)) }}
{%- endmacro -%}


{#- The tags of an entity, asked of the metastore: a dictionary from the name to the manifest, with text (of the view). -#}
{%- macro _tags(capture) -%}
    {%- set schema, prefix = spark_cdc._claims_schema(capture), capture.entity.name ~ '_tag_' -%}
    {%- set tags = {} -%}
    {%- if spark_cdc._query('show schemas like ' ~ spark_cdc._literal(schema)) -%}
        {%- for row in spark_cdc._query('show views in ' ~ spark_cdc._quote(schema) ~ ' like ' ~ spark_cdc._literal(prefix ~ '*')) -%}
            {%- set view = spark_cdc._relation_in(schema, row.viewName) -%}
            {%- set text = spark_cdc._view_text(view) -%}
            {%- set manifest = spark_cdc._parse_manifest(text, view) if 'spark_cdc manifest:' in text else {} -%}
            {#- views of an entity whose name begins in the same way are its own -#}
            {%- if manifest.get('tag', {}).get('entity') == capture.entity.name -%}
                {%- do tags.update({manifest.tag.name: dict(manifest, text=text)}) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(tags) }}
{%- endmacro -%}
