{#- By which keys an event names its row, as hashes. -#}


{#- The hash of the key; an entity without a key that is insert_only is told apart by the place of its events. -#}
{%- macro _event_key_hash(entity) -%}
{%- if entity.key_columns -%}
{{ spark_cdc._hash_unless(spark_cdc._event_key_is_missing(entity), entity.key_columns) }}
{%- else -%}
{%- set place -%}
concat(to_json(named_struct('position', final_position)), if(event_position is null, cast({{ spark_cdc._event_hash(entity) }} as string), ''))
{%- endset -%}
if(event_op in ('insert', 'upsert', 'read'), {{ spark_cdc._hash_digest(place, spark_cdc._secret_of(entity.sensitive)) }}, null)
{%- endif -%}
{%- endmacro -%}


{#- Whether an event names no key. -#}
{%- macro _event_key_is_missing(entity) -%}
{%- if entity.key_columns -%}
event_op in ('truncate', 'control') or {{ spark_cdc._any_null(entity.key_columns) }}
{%- else -%}
not coalesce(event_op in ('insert', 'upsert', 'read'), false)
{%- endif -%}
{%- endmacro -%}


{#- The hash of the key before the event, where it was another one. -#}
{%- macro _event_key_old_hash(old_keys) -%}
{%- set columns = [] -%}
{%- for old in old_keys -%}{%- do columns.append(dict(old.of, sql=old.sql)) -%}{%- endfor -%}
{%- set is_none -%}
{{ spark_cdc._any_null(old_keys) }} or not ({# -#}
{%- for old in old_keys -%}not {{ old.sql }} <=> {{ old.of.sql }}{{ ' or ' if not loop.last }}{%- endfor -%})
{%- endset -%}
{{ spark_cdc._hash_unless(is_none, columns) }}
{%- endmacro -%}


{#- By which other unique key an event names the old row; null where it names the key itself, or nothing. -#}
{%- macro _event_key_old_alternate(entity) -%}
case when event_op not in ('update', 'upsert', 'delete') or coalesce({{ spark_cdc._sent_before(entity.key_columns) | join(' or ') }}, false) then null
{%- for unique_key in entity.events.unique_keys -%}
{%- set columns = [] -%}
{%- for column in unique_key -%}
    {%- set text -%}event_before[{{ spark_cdc._literal(column.from) }}]{%- endset -%}
    {%- do columns.append(dict(column, sql=spark_cdc._cast(column, text, true, entity.timezone))) -%}
{%- endfor %} when {{ spark_cdc._sent_before(unique_key) | join(' and ') }} then {{ spark_cdc._alternate_hash(columns) }}
{%- endfor %} end
{%- endmacro -%}
