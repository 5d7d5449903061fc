{#- What may be wrong with the columns of a row, column by column: dictionaries with column (name), condition (never null) and reason
    (expression of a text). Of a row that deletes its key only the key and what says so have to be right. -#}
{%- macro _reject_faults(entity) -%}
    {%- set faults = [] -%}
    {%- for column in entity.columns -%}
        {%- set condition = spark_cdc._reject_condition(column, spark_cdc._raw(column), column.sql, entity.source.text) -%}
        {%- if condition and entity.deleted_when is not none and column.role not in ['key', 'control'] -%}
            {%- set condition = 'not is_deleted and (' ~ condition ~ ')' -%}
        {%- endif -%}
        {%- if condition -%}
            {%- do faults.append({'column': column.name, 'condition': condition, 'reason': spark_cdc._reject_reason(column)}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(faults) }}
{%- endmacro -%}
