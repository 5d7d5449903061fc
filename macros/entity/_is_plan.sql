{#- Whether the command at hand only says what a load would do (spark-cdc plan). It reads what a load reads, and writes nothing: it is no load command. -#}
{%- macro _is_plan() -%}
    {{ return(flags.WHICH == 'run-operation' and (invocation_args_dict.get('macro') or '').endswith('_print_plan')) }}
{%- endmacro -%}
