{#- The keys of an entity that were forgotten (docs/sensitive.md#forgotten), as a table in the schema apart, which spark_cdc.forget makes and loads read:
    key_token (by which the key is known when it comes again), key_hash (under which its rows lie), forgotten_at, and the partitions secret (id of the one that the
    token was made with; none where the key is plain) and run. -#}
{%- macro _forgotten_list(entity) -%}{{ return(spark_cdc._relation_in(spark_cdc._sensitive_schema(), entity.name ~ '_forgotten')) }}{%- endmacro -%}


{#- The same table, or none for an entity of which no key was forgotten, as dbt's look at the catalogue has it: such an entity pays nothing. -#}
{%- macro _forgotten(entity) -%}
    {%- if not entity.sensitive or not execute -%}{{ return(none) }}{%- endif -%}
    {%- set list = spark_cdc._forgotten_list(entity) -%}
    {{ return(list if load_cached_relation(list) is not none else none) }}
{%- endmacro -%}


{#- The secrets that the tokens of a list were made with: ids, the oldest first; none alone where the key is plain. -#}
{%- macro _forgotten_secrets(entity, list) -%}
    {%- if not spark_cdc._has_sensitive_key(entity) -%}{{ return(['none']) }}{%- endif -%}
    {%- set found = [] -%}
    {%- for row in spark_cdc._query('show partitions ' ~ list) -%}{%- do found.append(modules.re.search('secret=([^/]+)', row.partition).group(1)) -%}{%- endfor -%}
    {{ return(found | unique | sort) }}
{%- endmacro -%}


{#- A condition on rows of a view with key_hash as text, that holds of no row of a sensitive key that was forgotten. Arguments: entity, condition. -#}
{%- macro _but_forgotten_sql(entity, condition) -%}
    {%- set list = spark_cdc._forgotten(entity) if spark_cdc._has_sensitive_key(entity) else none -%}
    {%- if list is none -%}{{ return(condition) }}{%- endif -%}
    {{ return('(' ~ condition ~ ') and key_hash not in (select ' ~ spark_cdc._hex('key_hash') ~ ' from ' ~ list ~ ')') }}
{%- endmacro -%}


{#- What the note of a rejected row says in the place of reasons. -#}
{%- macro _forgotten_text() -%}{{ return('its values are gone, since its key was forgotten') }}{%- endmacro -%}
