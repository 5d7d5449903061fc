{#- The model <entity>_bitemporal: what was believed of each row, by two times: when it was so at the source (valid), and which loads knew it (known).
    Needs the archive (events.archive: true). Returns the model's SQL. -#}
{%- macro bitemporal() -%}
    {{ return(spark_cdc._view_query_of_two('events', spark_cdc._bitemporal_sql)) }}
{%- endmacro -%}
