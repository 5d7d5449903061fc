{#- Brings back what the last undo took back, as it was. Of several entities all are checked before the first is changed; where one can't be
    brought back, none is. The same command again finishes one that was interrupted.
        dbt run-operation spark_cdc.redo --args '{entities: [orders]}'
    Arguments: entities (list of names, or one). Returns nothing. -#}
{%- macro redo(entities) -%}
    {%- do spark_cdc._check_arguments('redo', {'entities': entities}) -%}
    {%- do spark_cdc._move_heads('redo', entities) -%}
{%- endmacro -%}
