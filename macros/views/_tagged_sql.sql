{#- A view of an entity as it was when a tag was made, with the columns of that time. Arguments: view (relation of <entity>_current, _history
    or _versions), tag. Returns a query. -#}
{%- macro _tagged_sql(view, tag) -%}
    {%- set name = spark_cdc._strip_entity_affix(view.identifier) -%}
    {%- set kind = view.identifier[name | length + 1:] -%}
    {%- if kind not in ['current', 'history', 'versions'] -%}
        {%- set message -%}
spark_cdc.as_of: {{ view.identifier }} can't be read as of a tag. Accepted are {{ name }}_current, {{ name }}_history and {{ name }}_versions.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- set capture = spark_cdc._capture(spark_cdc._entity(name), view.schema) -%}
    {%- set manifest = spark_cdc._tagged_manifest(capture, tag) -%}
    {%- set entity, relation = capture.entity, spark_cdc._tag(capture, tag) -%}
    {%- if not spark_cdc._has_columns_of(entity, manifest.definition) -%}
        {%- set names = adapter.get_columns_in_relation(relation) | map(attribute='name') | list -%}
        {%- set stored = [] -%}
        {%- for column in names[:names.index('key_hash')] -%}{%- do stored.append({'sql': spark_cdc._quote(column)}) -%}{%- endfor -%}
        {%- set entity = dict(entity, stored=stored) -%}
    {%- endif -%}
    {%- if kind == 'current' -%}
        {{ return(spark_cdc._current_sql(entity, relation, spark_cdc._is_few(entity, manifest.log_rows))) }}
    {%- endif -%}
    {{ return(spark_cdc._history_sql(entity, relation) if kind == 'history' else spark_cdc._versions_sql(entity, relation)) }}
{%- endmacro -%}
