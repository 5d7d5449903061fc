{#- The manifest that a tag names; an error that lists the tags that are there if it is not. -#}
{%- macro _tagged_manifest(capture, name) -%}
    {%- set view = spark_cdc._tag(capture, name) -%}
    {%- if modules.re.fullmatch('[a-z][a-z0-9_]*', name) and spark_cdc._query('show views in ' ~ view.without_identifier()
            ~ ' like ' ~ spark_cdc._literal(view.identifier)) -%}
        {{ return(spark_cdc._parse_manifest(spark_cdc._view_text(view), view)) }}
    {%- endif -%}
    {%- set message -%}
{{ capture.entity.name }}: there is no tag '{{ name }}'. Accepted are {{ spark_cdc._tags(capture) | sort | join(', ') or 'none yet' }}. {# -#}
To name a state: spark-cdc tag {{ name }} --select {{ capture.entity.name }}.
    {%- endset -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}
