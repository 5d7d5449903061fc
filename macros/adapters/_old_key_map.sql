{#- The key as it was before, of the setting old_key: a mapping of key column to the column with its old value. A part
    whose old value is null has not changed. Returns an expression of type map<string, string>: null where no old value
    is there. -#}
{%- macro _old_key_map(entity) -%}
{%- set old_texts = spark_cdc._old_key_map_texts(entity) -%}
{%- if not old_texts -%}
cast(null as map<string, string>)
{%- else -%}
if(
    {{ old_texts.values() | join(' is null and ') }} is null, null,
    map(
        {%- for key in entity.key_columns -%}
        {%- set text = spark_cdc._event_text(entity, key) -%}
        {{ spark_cdc._literal(key.from) }}, {# -#}
        {% if key.name in old_texts %}coalesce({{ old_texts[key.name] }}, {{ text }}){% else %}{{ text }}{% endif %}{{ ', ' if not loop.last }}
        {%- endfor -%}
    )
)
{%- endif -%}
{%- endmacro -%}


{#- The old values that the setting gives, as text, by the name of the key column. -#}
{%- macro _old_key_map_texts(entity) -%}
    {%- set texts = {} -%}
    {%- for key in entity.key_columns -%}
        {%- for name, old in (entity.events.get('old_key') or {}).items() if name | lower == key.name | lower -%}
            {%- set text = spark_cdc._event_text(entity, spark_cdc._named_column(entity, old)) -%}
            {#- an empty field is null for every type but text -#}
            {%- do texts.update({key.name: text if key.data_type == 'string' else 'nullif(' ~ text ~ ", '')"}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(texts) }}
{%- endmacro -%}


{#- What is wrong with the setting old_key. Returns a list of texts. -#}
{%- macro _old_key_map_problems(entity) -%}
    {%- set problems = [] -%}
    {%- set old_key = entity.events.get('old_key') or {} -%}
    {%- if old_key is not mapping -%}
        {{ return(['events.old_key is not a mapping: write key column: column with its old value below it']) }}
    {%- endif -%}
    {%- set keys = entity.key_columns | map(attribute='name') | list -%}
    {%- for name, old in old_key.items() -%}
        {%- if name | string | lower not in keys | map('lower') | list -%}
            {%- do problems.append("events.old_key has '" ~ name ~ "', which is no key; accepted are " ~ keys | join(', ') ~ ': correct it') -%}
        {%- elif spark_cdc._named_column(entity, old) is none -%}
            {%- do problems.append("events.old_key names '" ~ old ~ "', which is no column: declare it with the role control") -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
