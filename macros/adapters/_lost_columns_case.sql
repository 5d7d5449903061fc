{#- A case of what is wrong with an update: its old image names columns that the new one lacks, so that nothing says what became of them.
    Arguments: old, new (expressions of map<string, string>), old_name, new_name (what the message calls them), accepted (text). -#}
{%- macro _lost_columns_case(old, new, old_name, new_name, accepted) -%}
{%- set lost -%}array_except(map_keys({{ old }}), map_keys({{ new }})){%- endset -%}
when event_op = 'update' and size({{ lost }}) > 0
    then concat({{ spark_cdc._literal('in ' ~ old_name ~ ', but not in ' ~ new_name ~ ': ') }}, {# -#}
    array_join({{ lost }}, ', '), {{ spark_cdc._literal('; accepted is ' ~ accepted) }})
{%- endmacro -%}
