{#- The text of a manifest's view (see _committed_sql()). One that is too long is refused. -#}
{%- macro _manifest_text(capture, manifest) -%}
    {%- set text = spark_cdc._committed_sql(capture.entity, capture.masked, manifest) -%}
    {%- set excess = spark_cdc._manifest_text_excess(capture.entity, text) -%}
    {%- if excess -%}{%- do exceptions.raise_compiler_error(excess) -%}{%- endif -%}
    {{ return(text) }}
{%- endmacro -%}


{#- Why a manifest's text is too long, if it is: a Derby metastore keeps at most 32,700 characters. Returns a text or none. -#}
{%- macro _manifest_text_excess(entity, text) -%}
    {%- set limit = spark_cdc._var('spark_cdc_manifest_limit') -%}
    {%- if text | length <= limit -%}{{ return(none) }}{%- endif -%}
    {%- if text.split('load_id in (')[0] | length > limit -%}  {#- with no load at all #}
        {%- set message -%}
{{ entity.name }}: the view {{ entity.name }}_committed would have {{ text | length }} characters, more than {{ limit }}, which a Derby metastore can hold, {# -#}
and the names of its {{ entity.stored | length }} columns alone take too many. Nothing was committed. Raise the var spark_cdc_manifest_limit where the metastore takes longer texts, as a new one of spark-cdc server start does; else load fewer columns, or in two entities.
        {%- endset -%}
        {{ return(message) }}
    {%- endif -%}
    {%- set message -%}
{{ entity.name }}: the manifest would have {{ text | length }} characters, more than {{ limit }}, which a Derby metastore can hold. Nothing {# -#}
was committed. Squash older loads, which changes no view, and run the same command again: spark-cdc compact --select {{ entity.name }} {# -#}
--older-than 1 --execute, which is dbt run-operation spark_cdc.compact --args '{entities: [{{ entity.name }}], older_than_days: 1, {# -#}
execute: true}'. Where the metastore takes longer texts, raise the var spark_cdc_manifest_limit.
    {%- endset -%}
    {{ return(message) }}
{%- endmacro -%}
