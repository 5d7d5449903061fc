{#- Whether the command at hand loads data: one that makes relations does, unless it is to make nothing else (--empty) or reads a part of what the
    source delivered (--sample), which must not be taken for all of it. -#}
{%- macro _is_load_command() -%}
    {{ return(spark_cdc._is_build_command() and not flags.EMPTY and not invocation_args_dict.get('sample') and not spark_cdc._is_plan()) }}
{%- endmacro -%}
