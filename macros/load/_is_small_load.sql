{#- Whether a load is so small that it needs no settings. Arguments: load (its plan), files (of _input_files(); none where a table is read). -#}
{%- macro _is_small_load(load, files) -%}
    {{ return(files is not none and (files.bytes or 0) < 2 ** 24 and load.prior_rows < 10 ** 6) }}
{%- endmacro -%}
