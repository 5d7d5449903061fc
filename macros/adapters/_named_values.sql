{#- A map from an array of names and one of values, null where they do not fit together.
    Arguments: names, texts (expressions of array<string>). Returns an expression. -#}
{%- macro _named_values(names, texts) -%}
if({{ spark_cdc._is_named(names, texts) }}, map_from_arrays({{ names }}, {{ texts }}), null)
{%- endmacro -%}


{#- What is wrong with an array of names and one of values, in words; null if nothing is, or if both are null or empty. -#}
{%- macro _named_values_problem(names, texts, label) -%}
case
    when greatest(size({{ names }}), size({{ texts }}), 0) = 0 or {{ spark_cdc._is_named(names, texts) }} then null
    when greatest(size({{ names }}), 0) <> greatest(size({{ texts }}), 0)
        then concat(
            {{ spark_cdc._literal(label ~ ': ') }}, greatest(size({{ names }}), 0), ' names and ', greatest(size({{ texts }}), 0),
            ' values; accepted is one value for each name'
        )
    else concat({{ spark_cdc._literal(label ~ ': a name is there twice or is null: ') }}, array_join({{ names }}, ', ', 'null'))
end
{%- endmacro -%}


{%- macro _is_named(names, texts) -%}
coalesce(size({{ names }}) = size({{ texts }}) and size(array_distinct(array_compact({{ names }}))) = size({{ names }}), false)
{%- endmacro -%}
