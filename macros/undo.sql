{#- Takes loads back: readers see the state before them at once, since only the list of loads that count gets shorter. What is taken back
    stays in the ledger, and redo brings it back, until another load is committed or vacuum drops it. All entities are checked before the
    first is changed; where one can't be undone, none is. The same command again finishes one that was interrupted.
        dbt run-operation spark_cdc.undo --args '{entities: [orders], to: 2024-03-02}'
    Arguments: entities (list of names, or one), to (the state to go back to: a load that counts, or a date, whose own load stays; none for
    the state before the last load). Returns nothing. -#}
{%- macro undo(entities, to=none) -%}
    {%- do spark_cdc._check_arguments('undo', {'entities': entities, 'to': to}) -%}
    {%- do spark_cdc._move_heads('undo', entities, to) -%}
{%- endmacro -%}
