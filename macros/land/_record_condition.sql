{#- Whether the reader takes a line for a record (or a header): as Spark's do. -#}
{%- macro _record_condition(entity) -%}
{%- set comment = spark_cdc._reader_option(entity, ['comment'], '') -%}
{%- if entity.source.format == 'json' -%}
trim(value) <> ''
{%- else -%}
value rlike '[^\\x00-\\x20]'{{ ' and not startswith(value, ' ~ spark_cdc._literal(comment) ~ ')' if comment }}
{%- endif -%}
{%- endmacro -%}
