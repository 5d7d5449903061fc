{#- All tags, for people and for spark-cdc: a list of dictionaries. -#}
{%- macro _listed_tags(captures) -%}
    {%- set listed = [] -%}
    {%- for capture in captures -%}
        {%- for name, manifest in spark_cdc._tags(capture).items() -%}
            {%- do listed.append({
                'tag': name, 'entity': capture.entity.name, 'last_load': manifest.loads[-1], 'rows': manifest.rows, 'at': manifest.tag.at,
                'view': spark_cdc._tag(capture, name) | string,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(listed) }}
{%- endmacro -%}
