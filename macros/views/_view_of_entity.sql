{#- Makes the model at hand a view of its entity, and says what it reads. A model whose name ends with _sensitive shows sensitive columns, and lies where they
    lie (docs/sensitive.md). Returns a dictionary: name (of the entity), plain (relation of <entity>_committed, whose text is the manifest), committed (relation to select
    from: the same, or <entity>_committed_sensitive). -#}
{%- macro _view_of_entity() -%}
    {%- do config(materialized='cdc_view', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -%}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set plain = spark_cdc._whole(ref(name ~ '_committed')) -%}
    {%- set committed = spark_cdc._whole(ref(name ~ '_committed_sensitive')) if spark_cdc._is_sensitive_model() else plain -%}
    {{ return({'name': name, 'plain': plain, 'committed': committed}) }}
{%- endmacro -%}
