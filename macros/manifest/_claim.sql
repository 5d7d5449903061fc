{#- The relation that claims a commit. -#}
{%- macro _claim(capture, sequence) -%}
    {{ return(spark_cdc._relation_in(spark_cdc._commits_schema(capture.schema), capture.entity.name ~ '_commit_' ~ '%06d' | format(sequence))) }}
{%- endmacro -%}
