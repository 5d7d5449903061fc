{#- Forgets keys of an entity (docs/sensitive.md#forgotten): the sensitive values of their rows are gone from all loads, archived events and rejected rows, and no later load
    or replay brings them back. Loads that hold them are written anew beside the old ones, one commit shows them, and the old ones are dropped at once. The same command
    again finishes what was interrupted.
        dbt run-operation spark_cdc.forget --args '{entity: members, keys: [[4]]}'
    Arguments: entity (name), keys (list of keys, each a list with a value for each key column in declared order; not where the key is sensitive, since they stand in
    logs), source (in their place a table with the key columns, or a CSV file with a header that Spark can read), even_if_absent (whether keys that no load has are
    accepted: later loads bring no values of them). Returns nothing. -#}
{%- macro forget(entity, keys=none, source=none, even_if_absent=false) -%}
    {%- do spark_cdc._check_arguments('forget', {'entity': entity, 'source': source, 'even_if_absent': even_if_absent}) -%}
    {%- set capture = spark_cdc._captures('forget', [entity])[0] -%}
    {%- do spark_cdc._check_forget(capture, keys, source) -%}
    {%- do spark_cdc._ensure_load_log(capture.load_log) -%}
    {%- set head = spark_cdc._head(capture) -%}
    {%- do spark_cdc._check_forget_head(capture, head) -%}
    {%- set layout = head.get('layout') or {} -%}
    {%- set wanted = spark_cdc._forget_wanted(capture, layout, keys, source, even_if_absent) -%}
    {%- do spark_cdc._forget_list_keys(capture, wanted) -%}
    {%- do spark_cdc._forget_entity(capture, head, wanted) -%}
{%- endmacro -%}
