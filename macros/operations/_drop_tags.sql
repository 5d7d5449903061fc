{#- Takes a tag away from those entities that have it. -#}
{%- macro _drop_tags(captures, name) -%}
    {%- set dropped = [] -%}
    {%- for capture in captures if name in spark_cdc._tags(capture) -%}
        {%- do spark_cdc._send('drop view if exists ' ~ spark_cdc._tag(capture, name)) -%}
        {%- do log(capture.entity.name ~ ': dropped the tag ' ~ name ~ '; vacuum no longer keeps its loads for it', info=true) -%}
        {%- do dropped.append(capture) -%}
    {%- endfor -%}
    {%- if not dropped -%}
        {%- do exceptions.raise_compiler_error("spark_cdc.tag: there is no tag '" ~ name ~ "'. spark-cdc tag --list shows those that are there.") -%}
    {%- endif -%}
{%- endmacro -%}
