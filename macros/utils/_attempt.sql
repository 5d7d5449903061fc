{#- The eight characters that tell this run of dbt from any other. -#}
{%- macro _attempt() -%}{{ return(local_md5(invocation_id)[:8]) }}{%- endmacro -%}
