{#- The branches of entities, in words of what they have that production lacks: a list of dictionaries with branch, entity, schema (of the branch), of
    (production's), at (UTC, when it was made), from_load (the last of production's loads in it) and until (its business time), is_there (whether the branch still has the entity), dates (business times of loads of its
    own that count), behind (loads that production has committed since). -#}
{%- macro _listed_branches(captures) -%}
    {%- set named, schemas = {}, captures | map(attribute='schema') | unique | list -%}
    {%- for capture in captures -%}{%- do named.update({capture.entity.name: capture}) -%}{%- endfor -%}
    {%- set tags = spark_cdc._branch_tags(schemas) | selectattr('entity', 'in', named) | list -%}
    {%- set mapped = {} -%}
    {%- for tag in tags -%}{%- do mapped.update({tag.view | string: spark_cdc._branch_schemas(tag.name, [tag.schema])[tag.schema]}) -%}{%- endfor -%}
    {%- set texts = spark_cdc._committed_texts(mapped.values() | list + (schemas if tags else [])) -%}
    {%- set listed = [] -%}
    {%- for tag in tags -%}
        {%- set capture, schema = named[tag.entity], mapped[tag.view | string] -%}
        {%- set loads = {} -%}
        {%- for place in [schema, tag.schema] -%}
            {%- set text = texts.get(place ~ '.' ~ capture.committed.identifier) -%}
            {%- do loads.update({place: spark_cdc._parse_manifest(text, capture.committed).loads if text else none}) -%}
        {%- endfor -%}
        {%- set own, last = [], tag.manifest.loads[-1] -%}
        {%- for load_id in loads[schema] or [] if load_id not in tag.manifest.loads and not spark_cdc._load_kind(load_id).is_squashed -%}
            {%- do own.append(load_id) -%}
        {%- endfor -%}
        {%- do listed.append({
            'branch': tag.name, 'entity': tag.entity, 'schema': schema, 'of': tag.schema, 'at': tag.manifest.tag.at, 'from_load': last,
            'until': spark_cdc._load_time_text(capture.entity, last), 'is_there': loads[schema] is not none, 'dates': spark_cdc._load_times(capture.entity, own),
            'behind': (loads[tag.schema] or []) | reject('in', tag.manifest.loads) | list | length,
        }) -%}
    {%- endfor -%}
    {{ return(listed) }}
{%- endmacro -%}
