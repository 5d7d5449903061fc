{#- The text of a manifest's view (see _committed_sql()). One that is too long is refused: a Derby metastore keeps at most 32,700 characters. -#}
{%- macro _manifest_text(capture, manifest) -%}
    {%- set entity = capture.entity -%}
    {%- set text = spark_cdc._committed_sql(entity, capture.ledger, manifest) -%}
    {%- set limit = spark_cdc._var('spark_cdc_manifest_limit') -%}
    {%- if text | length > limit -%}
        {%- set message -%}
{{ entity.name }}: the manifest would have {{ text | length }} characters, more than {{ limit }}, which a Derby metastore can hold. Nothing {# -#}
was committed. Squash older loads, which changes no view, and run the same command again: spark-cdc compact --select {{ entity.name }} {# -#}
--older-than 1 --execute, which is dbt run-operation spark_cdc.compact --args '{entities: [{{ entity.name }}], older_than_days: 1, {# -#}
execute: true}'. Where the metastore takes longer texts, raise the var spark_cdc_manifest_limit.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {{ return(text) }}
{%- endmacro -%}
