{#- The relation that claims a commit. -#}
{%- macro _claim(committed, name, sequence) -%}
    {{ return(spark_cdc._relation_in(spark_cdc._commits_schema(committed.schema), name ~ '_commit_' ~ '%06d' | format(sequence))) }}
{%- endmacro -%}
