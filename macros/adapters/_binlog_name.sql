{#- The name that the files of a binlog share, without their numbers: another one says that they are numbered anew. -#}
{%- macro _binlog_name(file) -%}
left({{ file }}, length({{ file }}) - length(substring_index({{ file }}, '.', -1)) - 1)
{%- endmacro -%}
