{#- What this session needs where its queries ask staging itself, through views, and not rows that were written down: else Spark's optimizer keeps of each
    expression over many columns (as a hash) every way to write it with the names that a view gives them (constraints,
    UnaryNode.getAllValidConstraints()), 2 to the number of columns, of which 15 keep it for hours. -#}
{%- macro _set_for_staging() -%}
    {%- do spark_cdc._send('set spark.sql.constraintPropagation.enabled = false') -%}
{%- endmacro -%}
