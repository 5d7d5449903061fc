{#- Whether an entity reads files, not a table. -#}
{%- macro _reads_files(entity) -%}{{ return(entity.source.format not in ['table', 'change_feed']) }}{%- endmacro -%}
