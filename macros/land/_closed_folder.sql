{#- Where, below a business time's folder, spark-cdc stream sets the marker that closes it: a folder that Spark's readers leave out, while its file can be asked for. -#}
{%- macro _closed_folder() -%}{{ return('/_closed') }}{%- endmacro -%}
