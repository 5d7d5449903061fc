{#- What a tag of an entity would be. Arguments: capture, name, at (of tag()). Returns a dictionary: problem (why it can't be, a text, or none),
    is_empty (whether that is since nothing is loaded), is_there (whether the state has the tag already), manifest, text (of the view). -#}
{%- macro _planned_tag(capture, name, at) -%}
    {%- set entity = capture.entity -%}
    {%- set view = spark_cdc._tag(capture, name) -%}
    {%- set head = spark_cdc._head(capture) -%}
    {%- if not head.loads -%}
        {{ return({'problem': entity.name ~ ': nothing is committed, so there is no state to name.', 'is_empty': true}) }}
    {%- elif view.identifier | length > 128 -%}
        {{ return({'problem': entity.name ~ ': the name ' ~ view.identifier ~ ' is too long for a view, accepted are 128 characters.'}) }}
    {%- endif -%}
    {%- set found = {'loads': head.loads, 'problem': none} if at is none else spark_cdc._loads_up_to(capture, head.loads, at) -%}
    {%- if found.problem or not found.loads -%}
        {{ return({'problem': found.problem or entity.name ~ ': nothing was committed before ' ~ at ~ ', the first load is ' ~ head.loads[0] ~ '.'}) }}
    {%- endif -%}
    {%- set manifest = spark_cdc._manifest_up_to(capture, head, found.loads) -%}
    {%- set before = spark_cdc._tags(capture).get(name) -%}
    {%- if before and before.loads != manifest.loads -%}
        {%- set problem -%}
{{ entity.name }}: {{ name }} names the state after {{ before.loads[-1] }} since {{ before.tag.at }} UTC. Take another name, or drop it first: {# -#}
spark-cdc tag {{ name }} --drop --select {{ entity.name }}.
        {%- endset -%}
        {{ return({'problem': problem}) }}
    {%- elif before -%}
        {{ return({'problem': none, 'is_there': true, 'manifest': before}) }}
    {%- elif not spark_cdc._has_columns_of(entity, manifest.definition) -%}
        {#- the text will have the columns that the YAML declares -#}
        {%- set problem -%}
{{ entity.name }}: the columns of stg_{{ entity.name }} are not those of {{ manifest.loads[-1] }}. Load once with the new columns, or put {# -#}
the YAML back, then tag.
        {%- endset -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}
    {%- set at = spark_cdc._time_now() -%}
    {%- set text = spark_cdc._manifest_text(capture, dict(spark_cdc._unmoved_manifest(manifest), tag={'name': name, 'entity': entity.name, 'at': at})) -%}
    {{ return({'problem': none, 'is_there': false, 'manifest': manifest, 'text': text}) }}
{%- endmacro -%}
