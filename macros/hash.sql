{#- The hash of some columns of a row, as the ledger computes it: see docs/hash.md.
    Arguments: columns (list of dictionaries {name, data_type, sql}; sql is the typed expression, mostly the column itself). Returns an
    expression of type binary, 16 bytes, never null. -#}
{%- macro hash(columns) -%}{{ return(spark_cdc._hash(columns)) }}{%- endmacro -%}
