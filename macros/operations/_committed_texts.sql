{#- The texts of the views <entity>_committed, which hold the manifests: one statement per schema. Argument: schemas (list of names). Returns a dictionary,
    `schema.view` to text; without those of a schema that is not there. -#}
{%- macro _committed_texts(schemas) -%}
    {%- set texts = {} -%}
    {%- for schema in schemas | unique if adapter.check_schema_exists(target.database, schema) -%}
        {%- for row in spark_cdc._query('show table extended in ' ~ spark_cdc._quote(schema) ~ " like '*_committed'") -%}
            {%- do texts.update({schema ~ '.' ~ row.tableName: spark_cdc._view_text_in(row.information)}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(texts) }}
{%- endmacro -%}
