{#- The second and the third step. What was committed by others in the meantime, if this process was stopped between the first
    and the second, is made visible again. -#}
{%- macro _show(name, committed, text, exists) -%}
    {%- if model['resource_type'] == 'macro' -%}  {#- dbt run-operation has no main statement -#}
        {%- do run_query(spark_cdc._replace_view_sql(committed, text, exists)) -%}
    {%- else -%}
        {%- call statement('main') -%}
            {{ spark_cdc._replace_view_sql(committed, text, exists) }}
        {%- endcall -%}
    {%- endif -%}
    {%- do spark_cdc._head(committed, name) -%}
{%- endmacro -%}
