{#- The secret that loads take: a table of the restricted schema, with the key of HMAC-MD5 as RFC
    2104 pads it in its one row (keys, a struct of inner_key and outer_key, 64 bytes each). The
    view spark_cdc_secret beside it says which, and altering it is a rotation. dbt looks at the
    schema once per run, so that a run takes one secret to its end. Without one it is the name of
    a table that is not there: SQL can be looked at, and loads are refused
    (_missing_secret_problems()). -#}
{%- macro _secret() -%}
    {%- set view = spark_cdc._secret_view() -%}
    {%- set cached = spark_cdc._known(view) if execute else none -%}
    {%- set named = spark_cdc._secret_named_in(cached.information or spark_cdc._view_text(view)) if cached is not none else none -%}
    {{ return(spark_cdc._relation_in(view.schema, named or 'spark_cdc_secret_missing')) }}
{%- endmacro -%}


{%- macro _secret_view() -%}{{ return(spark_cdc._relation_in(spark_cdc._sensitive_schema(), 'spark_cdc_secret')) }}{%- endmacro -%}


{#- The name of the table of which the text of that view tells; none, if of none. -#}
{%- macro _secret_named_in(text) -%}
    {%- for rest in text.split('spark_cdc_secret_')[1:] if rest[:1].isdigit() -%}
        {%- set behind = rest.lstrip('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_') -%}
        {{ return('spark_cdc_secret_' ~ rest[:rest | length - behind | length]) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{%- macro _secret_is_missing(secret) -%}{{ return(secret.identifier == 'spark_cdc_secret_missing') }}{%- endmacro -%}


{#- Its public name, which says nothing of it: when it was made, and a few digits of dbt's run. -#}
{%- macro _secret_id(secret) -%}{{ return(secret.identifier.removeprefix('spark_cdc_secret_')) }}{%- endmacro -%}


{#- The secret of such a name: a table. -#}
{%- macro _secret_of_id(id) -%}{{ return(spark_cdc._relation_in(spark_cdc._sensitive_schema(), 'spark_cdc_secret_' ~ id)) }}{%- endmacro -%}


{#- Whether one of some columns (of _columns_of()) is sensitive. -#}
{%- macro _has_sensitive(columns) -%}
    {{ return(columns | map(attribute='meta') | selectattr('sensitive', 'defined') | selectattr('sensitive') | list != []) }}
{%- endmacro -%}


{#- An entity with sensitive columns is not loaded without a secret. Arguments: name, node (of
    stg_<name>). Returns a list of texts. -#}
{%- macro _missing_secret_problems(name, node) -%}
    {%- set sensitive = spark_cdc._described_columns(node) | selectattr('sensitive') | list -%}
    {%- set secret = spark_cdc._secret_of(sensitive) -%}
    {{ return([spark_cdc._missing_secret_text(name, sensitive)] if secret is not none and spark_cdc._secret_is_missing(secret) else []) }}
{%- endmacro -%}


{#- What is said then. Arguments: name, sensitive (its sensitive columns). -#}
{%- macro _missing_secret_text(name, sensitive) -%}
{{ name }}: the hashes of its sensitive columns ({{ sensitive | map(attribute='name') | join(', ') }}) are keyed with a secret, and this user finds none in the schema {# -#}
{{ spark_cdc._sensitive_schema() }}. Make one: spark-cdc secrets init (with dbt alone: dbt run-operation spark_cdc.secrets --args {# -#}
'{action: init}'). If loads had one before, put the view spark_cdc_secret and its table back; with another one hashes are computed anew.
{%- endmacro -%}


{#- The schema in which the sensitive columns of an entity lie, named by dbt's own rule, so that
    models with this `schema` lie there too. -#}
{%- macro _sensitive_schema() -%}
    {{ return(generate_schema_name(spark_cdc._var('spark_cdc_sensitive_schema'), none) | trim) }}
{%- endmacro -%}


{#- Whether the hash of an entity's key is keyed, and so the key one that nobody may read. -#}
{%- macro _has_sensitive_key(entity) -%}{{ return(spark_cdc._secret_of(entity.key_columns) is not none) }}{%- endmacro -%}


{#- The keys of an entity that were erased (docs/sensitive.md#erasure), as a table in the
    schema apart, which spark_cdc.erase makes and loads read: key_token (by which the key is
    known when it comes again), key_hash (under which its rows lie), erased_at, and the
    partitions secret (id of the one that the token was made with; none where the key is plain)
    and run. In a dry run of erase it is a temporary view (_erase_list_keys()). -#}
{%- macro _erased_list(entity) -%}
    {{ return(entity.get('erased_list') or spark_cdc._relation_in(spark_cdc._sensitive_schema(), entity.name ~ '_erased')) }}
{%- endmacro -%}


{#- The same table, or none for an entity of which no key was erased, as dbt's look at the
    catalogue has it: such an entity pays nothing. -#}
{%- macro _erased(entity) -%}
    {%- if not entity.sensitive or not execute -%}{{ return(none) }}{%- endif -%}
    {%- set list = spark_cdc._erased_list(entity) -%}
    {{ return(list if spark_cdc._known(list) is not none else none) }}
{%- endmacro -%}


{#- The secrets that the tokens of a list were made with: ids, the oldest first; none alone where
    the key is plain. -#}
{%- macro _erased_secrets(entity, list) -%}
    {%- if not spark_cdc._has_sensitive_key(entity) -%}{{ return(['none']) }}{%- endif -%}
    {%- if list == entity.get('erased_list') -%}
        {{ return(spark_cdc._query('select distinct secret from ' ~ list) | map(attribute='secret') | sort) }}
    {%- endif -%}
    {%- set found = [] -%}
    {%- for partition in spark_cdc._partitions_shown(list) -%}{%- do found.append(partition.split('secret=')[1].split('/')[0]) -%}{%- endfor -%}
    {{ return(found | unique | sort) }}
{%- endmacro -%}


{#- A condition on rows of a view with key_hash as text, that holds of no row of a sensitive key
    that was erased. Arguments: entity, condition. -#}
{%- macro _but_erased_sql(entity, condition) -%}
    {%- set list = spark_cdc._erased(entity) if spark_cdc._has_sensitive_key(entity) else none -%}
    {%- if list is none -%}{{ return(condition) }}{%- endif -%}
    {{ return('(' ~ condition ~ ') and key_hash not in (select ' ~ spark_cdc._hex('key_hash') ~ ' from ' ~ list ~ ')') }}
{%- endmacro -%}


{#- What the note of a rejected row says in the place of reasons. -#}
{%- macro _erased_text() -%}{{ return('its values are gone, since its key was erased') }}{%- endmacro -%}
