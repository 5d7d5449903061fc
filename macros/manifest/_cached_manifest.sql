{#- The manifest in dbt's cache: what readers saw when this run looked at the catalogue, or what it has committed or read since. None where dbt knows of no
    such view, or not its text. Argument: committed (relation of the view). -#}
{%- macro _cached_manifest(committed) -%}
    {%- set cached = load_cached_relation(committed) -%}
    {%- set text = spark_cdc._view_text_in(cached.information) if cached is not none else '' -%}
    {{ return(spark_cdc._parse_manifest(text, committed) if 'spark_cdc manifest:' in text else none) }}
{%- endmacro -%}
