{#- The names of a JSON object, which is a map of texts, with those that are declared written as
    declared: columns and fields meet in any case, unless names that differ by case alone are
    declared. Null where none is written otherwise, which is fast to see.
    Arguments: object, declared (names), is_exact (whether a name is left as it is if the object has
    the declared one beside it, and is not taken for the same name twice). -#}
{%- macro _json_names(object, declared, is_exact=false) -%}
{%- set declared, by_case, folded, names = declared | unique(case_sensitive=true) | list, {}, [], [] -%}
{%- for name in declared -%}{%- do by_case.setdefault(name | lower, []).append(name) -%}{%- endfor -%}
{%- for lowered, alike in by_case.items() if alike | length == 1 -%}
    {%- do folded.append(lowered) -%}
    {%- do names.extend([lowered, alike[0]]) -%}
{%- endfor -%}
{%- if not folded -%}{{ return('cast(null as array<string>)') }}{%- endif -%}
{%- set others -%}array_except(map_keys({{ object }}), array({{ spark_cdc._literals(declared) }})){%- endset -%}
if({# -#}
arrays_overlap(transform({{ others }}, name -> lower(name)), array({{ spark_cdc._literals(folded) }})), {# -#}
transform(map_keys({{ object }}), name -> transform(array(try_element_at(map({{ spark_cdc._literals(names) }}), lower(name))), {# -#}
meant -> {{ 'if(meant is null or map_contains_key(' ~ object ~ ', meant), name, meant)' if is_exact else 'coalesce(meant, name)' }})[0]), null)
{%- endmacro -%}


{#- The fields of a JSON text under the names that are declared, as a map; null where it is no
    object, or has a declared name in several cases. -#}
{%- macro _json_fields(text, declared) -%}
transform(array(from_json({{ text }}, 'map<string, string>', map({{ spark_cdc._json_limits() }}))), o -> {# -#}
transform(array({{ spark_cdc._json_names('o', declared) }}), {# -#}
n -> case when n is null then o when size(array_distinct(n)) = size(n) then map_from_arrays(n, map_values(o)) end)[0])[0]
{%- endmacro -%}


{#- Arrays, maps and structs in JSON text. Each part is read as a text of its own, by the rules
    of columns; fields meet the declared ones in any case. -#}


{#- The value of a text in its type, null where that is not possible. Arguments: type (as
    _hash_type() returns it), raw, timezone, depth (of what stands around it). -#}
{%- macro _nested_value(type, raw, timezone, depth=0) -%}
{%- set part, whole = 'part_' ~ depth, 'whole_' ~ depth -%}
{%- if type.kind == 'array' -%}
transform(from_json({{ raw }}, 'array<string>', map({{ spark_cdc._json_limits() }})), {{ part }} -> {{ spark_cdc._nested_value(type.element, part, timezone, depth + 1) }})
{%- elif type.kind == 'map' -%}
transform_values(from_json({{ raw }}, 'map<string, string>', map({{ spark_cdc._json_limits() }})), {# -#}
(key_{{ depth }}, {{ part }}) -> {{ spark_cdc._nested_value(type.value, part, timezone, depth + 1) }})
{%- elif type.kind == 'struct' -%}
{%- set fields = [] -%}
{%- for field in type.fields -%}
    {%- set text = whole ~ '[' ~ spark_cdc._literal(field.name) ~ ']' -%}
    {%- do fields.append(spark_cdc._literal(field.name) ~ ', ' ~ spark_cdc._nested_value(field.type, text, timezone, depth + 1)) -%}
{%- endfor -%}
transform(array({{ spark_cdc._json_fields(raw, type.fields | map(attribute='name') | list) }}), {# -#}
{{ whole }} -> if({{ whole }} is null, null, named_struct({{ fields | join(', ') }})))[0]
{%- else -%}
{{ spark_cdc._cast(spark_cdc._nested_column(type), raw, true, timezone) }}
{%- endif -%}
{%- endmacro -%}


{#- When a text is no value of its type, or a part of it is none; and a name that comes more than
    once or, unless unexpected columns are ignored, that the type doesn't have: a condition that
    is never null. Arguments: type, raw, entity, depth (of what stands around it). -#}
{%- macro _nested_loss_condition(type, raw, entity, depth=0) -%}
{%- set part, whole = 'part_' ~ depth, 'whole_' ~ depth -%}
{%- if type.kind == 'array' -%}
({{ raw }} is not null and coalesce(exists(from_json({{ raw }}, 'array<string>', map({{ spark_cdc._json_limits() }})), {# -#}
{{ part }} -> {{ spark_cdc._nested_loss_condition(type.element, part, entity, depth + 1) or 'false' }}), true))
{%- elif type.kind in ['map', 'struct'] -%}
{%- set losses = [whole ~ ' is null', spark_cdc._has_repeated_names(whole)] -%}
{%- if type.kind == 'map' -%}
    {%- set fields -%}from_json({{ raw }}, 'map<string, string>', map({{ spark_cdc._json_limits() }})){%- endset -%}
    {%- set loss = spark_cdc._nested_loss_condition(type.value, part, entity, depth + 1) -%}
    {%- do losses.append('exists(map_values(' ~ whole ~ '), ' ~ part ~ ' -> ' ~ loss ~ ')') if loss -%}
{%- else -%}
    {%- set names = type.fields | map(attribute='name') | list -%}
    {%- set fields = spark_cdc._json_fields(raw, names) -%}
    {%- if entity.source.on_unexpected_column != 'ignore' -%}
        {%- do losses.append('size(array_except(map_keys(' ~ whole ~ '), array(' ~ spark_cdc._literals(names) ~ '))) > 0') -%}
    {%- endif -%}
    {%- for field in type.fields -%}
        {%- set text = whole ~ '[' ~ spark_cdc._literal(field.name) ~ ']' -%}
        {%- do losses.append(spark_cdc._nested_loss_condition(field.type, text, entity, depth + 1)) -%}
    {%- endfor -%}
{%- endif -%}
({{ raw }} is not null and exists(array({{ fields }}), {{ whole }} -> {{ losses | select | join(' or ') }}))
{%- else -%}
{%- set column = spark_cdc._nested_column(type) -%}
{{ spark_cdc._reject_condition(column, raw, spark_cdc._cast(column, raw, true, entity.timezone), true, entity) }}
{%- endif -%}
{%- endmacro -%}


{#- A part that holds no others, as a column. -#}
{%- macro _nested_column(type) -%}
    {{ return({'data_type': spark_cdc._plain_type(type.text), 'format': none, 'encoding': none, 'nullable': true}) }}
{%- endmacro -%}
