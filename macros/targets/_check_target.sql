{#- Refuses what can't be published, before anything is written. -#}
{%- macro _check_target(target) -%}
    {%- set accepted = ['delta', 'iceberg', 'parquet', 'orc'] -%}
    {%- if target.format not in accepted -%}
        {%- do spark_cdc._refuse_target(target, "the format is '" ~ target.format ~ "'; accepted are " ~ accepted | join(', ')) -%}
    {%- endif -%}
    {%- if not spark_cdc._is_there(target.capture.committed) -%}
        {%- do spark_cdc._refuse_target(target, target.entity.name ~ ' has not been loaded yet. Load it first: dbt run --select '
            ~ spark_cdc._load_selector(target.entity)) -%}
    {%- endif -%}
{%- endmacro -%}
