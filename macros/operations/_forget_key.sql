{#- The hash of the key of a row of the ledger, as the last definition has it: of a key that is sensitive or has changed since, from its values. -#}
{%- macro _forget_key_hash(entity, layout) -%}
    {%- if not layout.get('rekeyed') and not spark_cdc._has_sensitive_key(entity) -%}{{ return('key_hash') }}{%- endif -%}
    {{ return(spark_cdc._hash_unless(spark_cdc._any_null(spark_cdc._forget_keys(entity, layout)), spark_cdc._forget_keys(entity, layout))) }}
{%- endmacro -%}


{#- The key columns with the SQL of their values in the ledger, or in <entity>_events, whichever load wrote the row; prefix as of _place_sql(). -#}
{%- macro _forget_keys(entity, layout, events=false, prefix='') -%}
    {%- set keys = [] -%}
    {%- for key in entity.key_columns -%}
        {%- do keys.append(dict(key, of=key, sql=spark_cdc._place_sql(spark_cdc._place(layout, key), events, prefix))) -%}
    {%- endfor -%}
    {{ return(keys) }}
{%- endmacro -%}


{#- Puts the keys on the list, before anything is rewritten: from then on no load that begins brings values of them. Those that are there already keep their tokens. -#}
{%- macro _forget_list_keys(capture, wanted) -%}
    {%- set entity, list = capture.entity, spark_cdc._forgotten_list(capture.entity) -%}
    {%- set columns = [] -%}
    {%- for name, data_type in [('key_token', 'binary'), ('key_hash', 'binary'), ('forgotten_at', 'timestamp'), ('secret', 'string'), ('run', 'string')] -%}
        {%- do columns.append({'at_sql': name, 'data_type': data_type}) -%}
    {%- endfor -%}
    {%- do spark_cdc._send(spark_cdc._create_table_sql(list, columns, 'orc', ['secret', 'run'])) -%}
    {%- if wanted.listed == wanted['keys'] -%}{{ return('') }}{%- endif -%}
    {%- set is_keyed = spark_cdc._has_sensitive_key(entity) -%}
    {%- set id = spark_cdc._secret_id(spark_cdc._secret_of(entity.sensitive)) if is_keyed else 'none' -%}
    {%- set tokens = spark_cdc._forgotten_tokens(entity, list, entity.key_columns) -%}
    {%- set now = {'secret': id, 'sql': spark_cdc._forgotten_token(entity, entity.key_columns, id) if is_keyed else 'key_hash'} -%}
    {%- set sql -%}
insert overwrite table {{ list }} partition (secret, run)
select
    wanted.token as key_token,
    {{ "unhex(replace(java_method('java.util.UUID', 'randomUUID'), '-', ''))" if is_keyed else 'wanted.token' }} as key_hash,
    current_timestamp() as forgotten_at,
    '{{ id }}' as secret,
    '{{ spark_cdc._attempt() }}' as run
from (
    select
        {{ now.sql | indent(8) }} as token
        {%- for token in tokens %},
        {{ token.sql | indent(8) }} as token_{{ loop.index }}
        {%- endfor %}
    from {{ wanted.view }}
) as wanted
{%- for token in tokens %}
left anti join {{ list }} as list_{{ loop.index }}
    on wanted.token_{{ loop.index }} = list_{{ loop.index }}.key_token and list_{{ loop.index }}.secret = '{{ token.secret }}'
{%- endfor %}
    {%- endset -%}
    {%- do spark_cdc._set_overwrite(list) -%}
    {%- do spark_cdc._send(sql) -%}
    {%- do spark_cdc._send('refresh table ' ~ list) -%}
{%- endmacro -%}


{#- The tokens of rows of the ledger, or of <entity>_events, over their physical columns. Returns a dictionary: of_key, of_old (the key before an event). -#}
{%- macro _forget_key_tokens(entity, layout, events=false) -%}
    {%- set list = spark_cdc._forgotten_list(entity) -%}
    {%- set keys = spark_cdc._forget_keys(entity, layout, events) -%}
    {%- set key_hash = spark_cdc._hash_unless(spark_cdc._any_null(keys), keys) if layout.get('rekeyed') else 'key_hash' -%}
    {{ return({
        'of_key': spark_cdc._forgotten_tokens(entity, list, keys, key_hash),
        'of_old': spark_cdc._forgotten_old_tokens(entity, list, spark_cdc._forget_keys(entity, layout, events, 'old__')) if events else [],
    }) }}
{%- endmacro -%}
