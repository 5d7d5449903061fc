{#- A branch's tags: the state of each entity that it was made from, named in production as any tag is, so that production's vacuum keeps those loads as long as the
    branch is there. Arguments: schemas (of production), name (of a branch; none for all). Returns dictionaries: view, text, manifest, name (of the branch), entity. -#}
{%- macro _branch_tags(schemas, name=none) -%}
    {%- set tags = [] -%}
    {%- for schema in schemas if spark_cdc._query('show schemas like ' ~ spark_cdc._literal(schema ~ '_commits')) -%}
        {%- set pattern = '*_tag_' ~ spark_cdc._branch_tag(name or '*') -%}
        {%- for row in spark_cdc._query('show views in ' ~ spark_cdc._quote(schema ~ '_commits') ~ ' like ' ~ spark_cdc._literal(pattern)) -%}
            {%- set view = spark_cdc._relation_in(schema ~ '_commits', row.viewName) -%}
            {%- set text = spark_cdc._view_text(view) -%}
            {%- set manifest = spark_cdc._parse_manifest(text, view) if 'spark_cdc manifest:' in text else {} -%}
            {%- set tag = manifest.get('tag') or {} -%}
            {%- if tag.get('branch') and name in [none, tag.branch] -%}
                {%- do tags.append({'view': view, 'schema': schema, 'text': text, 'manifest': manifest, 'name': tag.branch, 'entity': tag.entity}) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(tags) }}
{%- endmacro -%}


{#- The name of the tag that a branch has in production. -#}
{%- macro _branch_tag(name) -%}{{ return('branch_' ~ name) }}{%- endmacro -%}
