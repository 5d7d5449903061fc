{#- The key as it was before, of the setting old_key: a mapping of key column to the column with its old value. A part
    whose old value is null has not changed. Returns an expression of type map<string, string>: null where no old value
    is there. -#}
{%- macro _old_key_map(entity) -%}
    {%- set old_key = entity.events.get('old_key') or {} -%}
    {%- if not old_key -%}
        {{ return('cast(null as map<string, string>)') }}
    {%- endif -%}
    {%- set entries = [] -%}
    {%- set missing = [] -%}
    {%- for key in entity.key_columns -%}
        {%- set text = spark_cdc._event_text(entity, key) -%}
        {%- for name in old_key if name | lower == key.name | lower -%}
            {%- set old = spark_cdc._named_column(entity, old_key[name]) -%}
            {%- set old_text = spark_cdc._event_text(entity, old) -%}
            {#- an empty field is null for every type but text -#}
            {%- set old_text = old_text if key.data_type == 'string' else 'nullif(' ~ old_text ~ ", '')" -%}
            {%- do missing.append(old_text ~ ' is null') -%}
            {%- do entries.append(spark_cdc._literal(key.from) ~ ', coalesce(' ~ old_text ~ ', ' ~ text ~ ')') -%}
        {%- else -%}
            {%- do entries.append(spark_cdc._literal(key.from) ~ ', ' ~ text) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return('if(\n    ' ~ missing | join(' and ') ~ ', null,\n    map(' ~ entries | join(', ') ~ ')\n)') }}
{%- endmacro -%}


{#- What is wrong with the setting old_key. Returns a list of texts. -#}
{%- macro _old_key_problems(entity) -%}
    {%- set problems = [] -%}
    {%- set old_key = entity.events.get('old_key') or {} -%}
    {%- if old_key is not mapping -%}
        {{ return(['events.old_key is not a mapping: write key column: column with its old value below it']) }}
    {%- endif -%}
    {%- set keys = entity.key_columns | map(attribute='name') | list -%}
    {%- for name in old_key -%}
        {%- if name | string | lower not in keys | map('lower') | list -%}
            {%- do problems.append("events.old_key has '" ~ name ~ "', which is no key; accepted are " ~ keys | join(', ') ~ ': correct it') -%}
        {%- elif spark_cdc._named_column(entity, old_key[name]) is none -%}
            {%- do problems.append("events.old_key names '" ~ old_key[name] ~ "', which is no column: declare it with the role control") -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
