{#- Refuses what can't be published, before anything is written. -#}
{%- macro _check_target(target) -%}
    {%- set accepted = ['delta', 'iceberg', 'parquet', 'orc'] -%}
    {%- if target.format not in accepted -%}
        {%- do spark_cdc._refuse_target(target, "the format is '" ~ target.format ~ "'; accepted are " ~ accepted | join(', ')) -%}
    {%- endif -%}
    {%- if not target.is_view -%}
        {%- set masked = target.entity.key_columns | selectattr('sensitive') | rejectattr('pseudonym') | map(attribute='name') | list -%}
        {%- if masked -%}
            {%- do spark_cdc._refuse_target(target, 'its key is sensitive (' ~ masked | join(', ') ~ '), and by masks ' ~ target.format ~ ' finds no row again. Say '
                ~ '`pseudonymize: true` of it in the place of a mask, which is for keys of type string, or publish as parquet or orc') -%}
        {%- endif -%}
        {%- set plan = spark_cdc._plan('create table ' ~ target.relation ~ '_probe (id int) using ' ~ target.format) -%}
        {%- if 'DATA_SOURCE_NOT_FOUND' in plan or 'Error occurred' in plan or (target.format == 'iceberg' and 'DeltaCatalog' in plan) -%}
            {%- do spark_cdc._refuse_target(target, 'the server does not know ' ~ target.format ~ ' in the catalog of ' ~ target.relation ~ ' (' ~ plan.split('\n')[1][:200]
                ~ '). Start it with the format alone: spark-cdc server start --with ' ~ target.format ~ ', or publish as parquet') -%}
        {%- endif -%}
    {%- endif -%}
    {%- if not spark_cdc._is_there(target.capture.committed) -%}
        {%- do spark_cdc._refuse_target(target, target.entity.name ~ ' has not been loaded yet. Load it first: '
            ~ spark_cdc._load_command(target.entity, spark_cdc._business_date(target.entity.name))) -%}
    {%- endif -%}
{%- endmacro -%}
