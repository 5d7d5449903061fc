{#- Whether the command at hand makes relations: dbt run and dbt build do, also when they are retried. -#}
{%- macro _is_build_command() -%}
    {{ return(flags.WHICH in ['run', 'build', 'retry', 'run-operation']) }}
{%- endmacro -%}
