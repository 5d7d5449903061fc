{#- cdc_loads: created if it is not there, and otherwise left alone, also by --full-refresh. -#}
{% materialization cdc_load_log, adapter='spark' %}
    {{ run_hooks(pre_hooks) }}
    {%- set existing = load_cached_relation(this) -%}
    {%- call statement('main') -%}
        {{ spark_cdc._create_load_log_sql(this) }}
    {%- endcall -%}
    {%- if existing is not none -%}
        {%- do spark_cdc._add_load_log_columns(this) -%}
    {%- endif -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}


{%- macro _create_load_log_sql(load_log) -%}
create table if not exists {{ load_log }} (
    {%- for name, data_type in spark_cdc._load_log_columns().items() %}
    {{ name }} {{ data_type }}{{ ',' if not loop.last }}
    {%- endfor %}
)
{{ spark_cdc._storage_sql(spark_cdc._default_file_format(), ['entity', 'load_id']) }}
{%- endmacro -%}


{#- Columns that a later version of the project records too. -#}
{%- macro _add_load_log_columns(load_log) -%}
    {%- set found = adapter.get_columns_in_relation(load_log) | map(attribute='name') | list -%}
    {%- set new = [] -%}
    {%- for name, data_type in spark_cdc._load_log_columns().items() if name not in found -%}
        {%- do new.append(name ~ ' ' ~ data_type) -%}
    {%- endfor -%}
    {%- if new -%}
        {%- do run_query('alter table ' ~ load_log ~ ' add columns (' ~ new | join(', ') ~ ')') -%}
    {%- endif -%}
{%- endmacro -%}
