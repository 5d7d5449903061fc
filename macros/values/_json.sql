{#- The names of a JSON object, which is a map of texts, with those that are declared written as declared: columns and fields meet in any case. Null
    where none is written otherwise, which is fast to see. -#}
{%- macro _json_names(object, declared) -%}
{%- set folded, names = [], [] -%}
{%- for name in declared -%}
    {%- do folded.append(name | lower) -%}
    {%- do names.extend([name | lower, name]) -%}
{%- endfor -%}
{%- set others -%}array_except(map_keys({{ object }}), array({{ spark_cdc._literals(declared) }})){%- endset -%}
if({# -#}
arrays_overlap(transform({{ others }}, name -> lower(name)), array({{ spark_cdc._literals(folded) }})), {# -#}
transform(map_keys({{ object }}), name -> coalesce(try_element_at(map({{ spark_cdc._literals(names) }}), lower(name)), name)), null)
{%- endmacro -%}


{#- A JSON object as a map of texts, under such names (none: as they are); of one that has a name twice it is as it came. -#}
{%- macro _json_named(object, names) -%}
if({{ names }} is null or {{ spark_cdc._json_has_repeated_names(object, names) }}, {{ object }}, map_from_arrays({{ names }}, map_values({{ object }})))
{%- endmacro -%}


{#- Whether a JSON object has a name more than once, or a declared one in several cases: a condition that is never null. -#}
{%- macro _json_has_repeated_names(object, names) -%}
coalesce(size(array_distinct(coalesce({{ names }}, map_keys({{ object }})))) < size({{ object }}), false)
{%- endmacro -%}


{#- The fields of a JSON text under the names that are declared, as a map; null where it is no object, or has a declared name in several cases. -#}
{%- macro _json_fields(text, declared) -%}
transform(array(from_json({{ text }}, 'map<string, string>', map({{ spark_cdc._json_limits() }}))), o -> {# -#}
transform(array({{ spark_cdc._json_names('o', declared) }}), {# -#}
n -> case when n is null then o when size(array_distinct(n)) = size(n) then map_from_arrays(n, map_values(o)) end)[0])[0]
{%- endmacro -%}
