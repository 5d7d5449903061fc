{#- Why a column's value is not accepted, in words. -#}
{%- macro _reject_reason(column) -%}
{%- set accepted = column.data_type ~ ('' if column.nullable else ' not null') -%}
concat({{ spark_cdc._literal(column.name ~ ': ') }}, coalesce({{ spark_cdc._shown(spark_cdc._raw(column)) }}, 'null'), {# -#}
{{ spark_cdc._literal(' is not accepted as ' ~ accepted) }})
{%- endmacro -%}
