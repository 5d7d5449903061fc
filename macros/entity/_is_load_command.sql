{#- Whether the command at hand loads data: dbt run and dbt build do, also when they are retried. -#}
{%- macro _is_load_command() -%}
    {{ return(flags.WHICH in ['run', 'build', 'retry', 'run-operation']) }}
{%- endmacro -%}
