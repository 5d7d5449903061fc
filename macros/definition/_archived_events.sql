{#- The events of all loads as the last definition has them: the relation itself as long as no column has moved, else a query between
    brackets. Keys and events are hashed anew, so that those of one key, and events that came twice, are known as such across the change. -#}
{%- macro _archived_events(entity, events, layout) -%}
{%- if not layout -%}{{ return(events) }}{%- endif -%}
{%- set columns = spark_cdc._event_columns(entity) -%}
{%- set replaced = dict({'event_hash': spark_cdc._event_hash(entity)}, **spark_cdc._rehashed_event_keys(entity, layout)) -%}
(
    select
        {% for column in columns -%}
        {{ spark_cdc._aliased(replaced.get(column.name, column.sql) | indent(8), column.sql) }},
        {% endfor -%}
        business_date,
        load_id
    from (
        select
            {% for column in columns -%}
            {{ spark_cdc._aliased(spark_cdc._archived_value(entity, column, layout), column.sql) }},
            {% endfor -%}
            business_date,
            load_id
        from {{ events }}
    ) as laid_out
)
{%- endmacro -%}


{#- Hashes of the keys of loads before the key changed, by name of the column. -#}
{%- macro _rehashed_event_keys(entity, layout) -%}
    {%- set old_keys = spark_cdc._old_keys(entity) -%}
    {%- if not layout.get('rekeyed') or not old_keys -%}{{ return({}) }}{%- endif -%}
    {%- set former = [] -%}
    {%- for key in old_keys -%}{%- do former.append(dict(key, name=key.of.name)) -%}{%- endfor -%}
    {%- set hashes = {} -%}
    {%- for name, keys in [('key_hash', entity.key_columns), ('old_key_hash', former)] -%}
        {%- set sql -%}
if(
    {{ spark_cdc._written_before(layout.rekeyed, true) }} and {{ name }} is not null,
    {{ spark_cdc._hash(keys) | indent(4) }},
    {{ name }}
)
        {%- endset -%}
        {%- do hashes.update({name: sql}) -%}
    {%- endfor -%}
    {{ return(hashes) }}
{%- endmacro -%}


{%- macro _archived_value(entity, column, layout) -%}
    {%- if column.name in ['event_absent', 'event_unavailable'] -%}
        {{ return(spark_cdc._renamed_in(entity, column.name, layout)) }}
    {%- elif column.name.startswith('old__') -%}
        {{ return(spark_cdc._place_sql(spark_cdc._place(layout, {'name': column.name[5:]}), true, 'old__')) }}
    {%- endif -%}
    {{ return(spark_cdc._place_sql(spark_cdc._place(layout, column), true)) }}
{%- endmacro -%}


{#- The names that events lack, as they are now. -#}
{%- macro _renamed_in(entity, list, layout) -%}
    {%- set cases = [] -%}
    {%- for name, place in (layout.get('shown') or {}).items() -%}
        {%- for column in entity.stored if spark_cdc._place(layout, column) == place -%}
            {%- do cases.append('when ' ~ spark_cdc._literal(name) ~ ' then ' ~ spark_cdc._literal(column.name)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if cases -%}
transform({{ list }}, name -> case lower(name) {{ cases | join(' ') }} else name end)
    {%- else -%}
{{ list }}
    {%- endif -%}
{%- endmacro -%}
