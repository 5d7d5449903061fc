{#- Gives the states of several entities a name, such as that of a month's end: as_of(…, tag=…) and
    diff() read them, vacuum keeps their loads, and compact changes nothing in them. All entities
    are checked before the first gets the tag. The same command again does what one that was
    interrupted has left.
        dbt run-operation spark_cdc.tag --args '{name: march, entities: [orders, customers]}'
    Arguments: name (lower case letters, digits, underscores), entities (list of names, or one;
    none for all that have a load), at (load or date whose state it is; none for the present
    one), drop (whether the tag is taken away), execute (whether it is done; else it is only said).
    Returns nothing. -#}
{%- macro tag(name, entities=none, at=none, drop=false, execute=true) -%}
    {%- do spark_cdc._check_arguments('tag', {'name': name, 'entities': entities, 'at': at, 'drop': drop, 'execute': execute}) -%}
    {%- set contexts = spark_cdc._contexts('tag', entities) -%}
    {%- if not spark_cdc._is_name(name | string, 40) -%}
        {%- set message -%}
spark_cdc.tag: '{{ name }}' can't be the name of a tag. Accepted are up to 40 lower case letters, digits and underscores, a letter first: {# -#}
spark-cdc tag create march_2024. Nothing was changed.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- elif drop -%}
        {#- Takes a tag away from those entities that have it. -#}
        {%- set dropped = [] -%}
        {%- for one in contexts if name in spark_cdc._tags(one) -%}
            {%- do spark_cdc._drop_view(spark_cdc._beside(one, 'tag', name)) -%}
            {%- do spark_cdc._say(one.entity.name ~ ': tag ' ~ name ~ ' dropped; vacuum no longer keeps its loads') -%}
            {%- do dropped.append(one) -%}
        {%- endfor -%}
        {%- if not dropped -%}
            {%- do exceptions.raise_compiler_error("spark_cdc.tag: there is no tag '" ~ name ~ "'. Nothing was dropped.\n  spark-cdc tag list") -%}
        {%- endif -%}
        {{ return('') }}
    {%- endif -%}
    {%- set planned, problems = [], [] -%}
    {%- for ctx in contexts -%}
        {%- set found = spark_cdc._planned_tag(ctx, name, at) -%}
        {%- if found.problem and (entities or not found.get('is_empty')) -%}
            {%- do problems.append(found.problem) -%}
        {%- elif not found.problem -%}
            {%- do planned.append((ctx, found)) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if problems or not planned -%}
        {%- do exceptions.raise_compiler_error((problems or ['no entity has a load yet.']) | join('\n') ~ '\nNo entity got the tag ' ~ name ~ '.') -%}
    {%- endif -%}
    {%- for ctx, found in planned -%}
        {%- if not found.is_there -%}
            {%- do spark_cdc._make_view(spark_cdc._beside(ctx, 'tag', name), found.text) -%}
        {%- endif -%}
        {%- do spark_cdc._say(ctx.entity.name ~ ': tag ' ~ name ~ (' exists already' if found.is_there else ' created') ~ ', after '
            ~ found.manifest.loads[-1] ~ ', ' ~ spark_cdc._counted(found.manifest.rows, 'row')) -%}
    {%- endfor -%}
{%- endmacro -%}


{#- A part of state(): the tags of an entity, a list of dictionaries. -#}
{%- macro _state_tags(ctx) -%}
    {%- set listed = [] -%}
    {%- for name, manifest in spark_cdc._tags(ctx).items() -%}
        {%- do listed.append({
            'tag': name, 'entity': ctx.entity.name, 'last_load': manifest.loads[-1], 'rows': manifest.rows, 'at': manifest.tag.at,
            'view': spark_cdc._beside(ctx, 'tag', name) | string,
        }) -%}
    {%- endfor -%}
    {{ return(listed) }}
{%- endmacro -%}


{#- What a tag of an entity would be. Arguments: ctx, name, at (of tag()). Returns a
    dictionary: problem (why it can't be, a text, or none), is_empty (whether that is since
    nothing is loaded), is_there (whether the state has the tag already), manifest, text (of the
    view). -#}
{%- macro _planned_tag(ctx, name, at) -%}
    {%- set entity = ctx.entity -%}
    {%- set view = spark_cdc._beside(ctx, 'tag', name) -%}
    {%- set timeline = spark_cdc._current_timeline(ctx) -%}
    {%- if not timeline.loads -%}
        {{ return({'problem': entity.name ~ ': nothing is committed, so there is no state to name.', 'is_empty': true}) }}
    {%- elif view.identifier | length > 128 -%}
        {{ return({'problem': entity.name ~ ': the name ' ~ view.identifier ~ ' is too long for a view, accepted are 128 characters.'}) }}
    {%- endif -%}
    {%- set found = {'loads': timeline.loads, 'problem': none} if at is none else spark_cdc._loads_up_to(ctx, timeline.loads, at) -%}
    {%- if found.problem or not found.loads -%}
        {{ return({'problem': found.problem or entity.name ~ ': nothing was committed before ' ~ at ~ ', the first load is ' ~ timeline.loads[0] ~ '.'}) }}
    {%- endif -%}
    {%- set manifest = spark_cdc._timeline_cut(timeline, found.loads | length, is_seen=true) -%}
    {%- set before = spark_cdc._tags(ctx).get(name) -%}
    {%- if before and before.loads != manifest.loads -%}
        {%- set problem -%}
{{ entity.name }}: {{ name }} names the state after {{ before.loads[-1] }} since {{ before.tag.at }} UTC. Take another name, or drop it first: {# -#}
spark-cdc tag drop {{ name }} --select {{ entity.name }}.
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
    {%- set text = spark_cdc._manifest_text(ctx, dict(manifest, tag={'name': name, 'entity': entity.name, 'at': at})) -%}
    {{ return({'problem': none, 'is_there': false, 'manifest': manifest, 'text': text}) }}
{%- endmacro -%}
