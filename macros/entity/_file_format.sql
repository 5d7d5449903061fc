{#- The file format of new tables that belong to no entity, and of entities that do not say theirs. -#}
{%- macro _default_file_format() -%}{{ return(var('spark_cdc_file_format', 'parquet')) }}{%- endmacro -%}


{#- What is wrong with the var. Returns a list of texts. -#}
{%- macro _file_format_problems() -%}
    {{ return([] if spark_cdc._default_file_format() in ['parquet', 'orc'] else [
        "the var spark_cdc_file_format is '" ~ spark_cdc._default_file_format() ~ "'; accepted are parquet, orc: choose one of them."
    ]) }}
{%- endmacro -%}
