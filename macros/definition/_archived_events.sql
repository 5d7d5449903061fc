{#- The events of all loads as the last definition has them: the relation itself as long as no column has moved, else a query between
    brackets. Keys and events are hashed anew, so that those of one key, and events that came twice, are known as such across the change. -#}
{%- macro _archived_events(entity, events, layout) -%}
    {%- if not layout -%}{{ return(events) }}{%- endif -%}
    {%- set columns = spark_cdc._event_columns(entity) -%}
    {#- A generator, not a plain expression, which Spark's optimizer would follow through all names of its columns: see _set_for_staging(), which a view
        can't have. With 20 columns that fills a heap of 2 GB. -#}
    {%- set event_hash = 'stack(1, ' ~ spark_cdc._event_hash(entity) ~ ')' -%}
    {%- set replaced = dict({'event_hash': event_hash}, **spark_cdc._rehashed_event_keys(entity, layout)) -%}
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
    {%- set former = [] -%}
    {%- for key in spark_cdc._old_keys(entity) -%}{%- do former.append(dict(key, name=key.of.name)) -%}{%- endfor -%}
    {%- set hashes = {} -%}
    {%- for name, keys in [('key_hash', entity.key_columns), ('old_key_hash', former)] if layout.get('rekeyed') and former -%}
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


{#- A column of the events as the last definition has it; in the lists of columns that an event lacks, their names as they are now. -#}
{%- macro _archived_value(entity, column, layout) -%}
    {%- set cases = [] -%}
    {%- for name, place in (layout.get('shown') or {}).items() if column.name in ['event_absent', 'event_unavailable'] -%}
        {%- for current in entity.stored if spark_cdc._place(layout, current) == place -%}
            {%- do cases.append('when ' ~ spark_cdc._literal(name) ~ ' then ' ~ spark_cdc._literal(current.name)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if cases -%}
transform({{ column.name }}, name -> case lower(name) {{ cases | join(' ') }} else name end)
    {%- else -%}
        {%- set prefix = 'old__' if column.name.startswith('old__') else '' -%}
{{ spark_cdc._place_sql(spark_cdc._place(layout, {'name': column.name.removeprefix(prefix)}), true, prefix) }}
    {%- endif -%}
{%- endmacro -%}
