{#- What is outstanding: business dates that lie in the landing or the source table and are not committed, for people and for spark-cdc run: prints a
    line of JSON behind `spark_cdc outstanding: `. Nothing is written. An entity whose configuration is wrong has that told in the list: the others can be loaded. Few statements whatever the number of entities: one that lists schemas, one
    per schema, two for all files, one for all tables.
        dbt run-operation spark_cdc.outstanding --args '{entities: [orders]}'
    Arguments: entities (list of names, or one; none for all). Returns nothing. -#}
{%- macro outstanding(entities=none) -%}
    {%- do spark_cdc._check_arguments('outstanding', {'entities': entities}) -%}
    {%- set found = spark_cdc._captures_with_heads('outstanding', entities) -%}
    {%- set since = {} -%}
    {%- for capture in found.captures -%}
        {%- do since.update({capture.entity.name: spark_cdc._load_time(capture.head.loads[-1]) if capture.head.loads else none}) -%}
    {%- endfor -%}
    {%- set landed = spark_cdc._landed_times(found.captures, since) -%}
    {%- set listed = [] -%}
    {%- for capture in found.captures -%}
        {%- do listed.append(spark_cdc._outstanding_of(capture, capture.head, landed[capture.entity.name])) -%}
    {%- endfor -%}
    {%- for name, problems in found.broken.items() -%}{%- do listed.append({'entity': name, 'broken': problems | join('; ')}) -%}{%- endfor -%}
    {%- do print('spark_cdc outstanding: ' ~ tojson(listed)) -%}
{%- endmacro -%}
