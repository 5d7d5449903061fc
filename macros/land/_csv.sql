{%- macro _csv_has_header(entity) -%}{{ return(spark_cdc._reader_option(entity, ['header'], true) | string | lower == 'true') }}{%- endmacro -%}


{%- macro _csv_is_multi_line(entity) -%}
    {{ return(entity.source.format == 'csv' and spark_cdc._reader_option(entity, ['multiline'], false) | string | lower == 'true') }}
{%- endmacro -%}


{#- The declared encoding of CSV, in lower case. -#}
{%- macro _csv_encoding(entity) -%}
    {%- set name = spark_cdc._reader_option(entity, ['encoding', 'charset'], 'utf-8') | lower -%}
    {{ return('utf-8' if name == 'utf8' else name) }}
{%- endmacro -%}
