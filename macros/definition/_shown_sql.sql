{#- A column as every load has it, whichever definition it was written under. -#}
{%- macro _shown_sql(entity, column, layout) -%}
    {%- if column.name == 'key_hash' and layout.get('rekeyed') and entity.key_columns -%}
        {%- set keys = [] -%}
        {%- for key in entity.key_columns -%}{%- do keys.append(dict(key, sql=spark_cdc._place_sql(spark_cdc._place(layout, key)))) -%}{%- endfor -%}
        {{ return('if(' ~ spark_cdc._written_before(layout.rekeyed) ~ ', ' ~ spark_cdc._hash(keys) | indent(4) ~ ', key_hash) as key_hash') }}
    {%- endif -%}
    {{ return(spark_cdc._aliased(spark_cdc._place_sql(spark_cdc._place(layout, column)), column.sql)) }}
{%- endmacro -%}
