{#- The draft of an entity, or an empty manifest. -#}
{%- macro _read_draft(committed, name) -%}
    {%- set view = spark_cdc._relation_in(committed.schema, name ~ '_replay') -%}
    {%- if not spark_cdc._query('show views in ' ~ committed.without_identifier() ~ ' like ' ~ spark_cdc._literal(view.identifier)) -%}
        {{ return(spark_cdc._empty_manifest()) }}
    {%- endif -%}
    {%- set draft = spark_cdc._parse_manifest(spark_cdc._view_text(view), view) -%}
    {%- if 'replay' not in draft -%}
        {% do exceptions.raise_compiler_error(
            name ~ ': ' ~ view ~ ' is not the draft of a replay, but a replay needs that name. Nothing was written. Rename it.'
        ) %}
    {%- endif -%}
    {{ return(draft) }}
{%- endmacro -%}
