{#- Gives the states of several entities a name, such as that of a month's end: as_of(…, tag=…) and diff() read them, vacuum keeps their
    loads, and compact changes nothing in them. All entities are checked before the first gets the tag. The same command again does what
    one that was interrupted has left.
        dbt run-operation spark_cdc.tag --args '{name: march, entities: [orders, customers]}'
    Arguments: name (lower case letters, digits, underscores; none prints all tags as a line of JSON), entities (list of names, or one; none for
    all that have a load), at (load or date whose state it is; none for the present one), drop (whether the tag is taken away). Returns
    nothing. -#}
{%- macro tag(name=none, entities=none, at=none, drop=false) -%}
    {%- do spark_cdc._check_arguments('tag', {'name': name, 'entities': entities, 'at': at, 'drop': drop}) -%}
    {%- set captures = spark_cdc._captures('tag', entities) -%}
    {%- if name is none -%}
        {%- do print('spark_cdc tags: ' ~ tojson(spark_cdc._listed_tags(captures))) -%}
        {{ return('') }}
    {%- elif not modules.re.fullmatch('[a-z][a-z0-9_]{0,39}', name | string) -%}
        {%- set message -%}
spark_cdc.tag: '{{ name }}' can't be the name of a tag. Accepted are up to 40 lower case letters, digits and underscores, a letter first: {# -#}
spark-cdc tag march_2024. Nothing was changed.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- elif drop -%}
        {%- do spark_cdc._drop_tags(captures, name) -%}
        {{ return('') }}
    {%- endif -%}
    {%- set planned, problems = [], [] -%}
    {%- for capture in captures -%}
        {%- set found = spark_cdc._planned_tag(capture, name, at) -%}
        {%- if found.problem and (entities or not found.get('is_empty')) -%}
            {%- do problems.append(found.problem) -%}
        {%- elif not found.problem -%}
            {%- do planned.append((capture, found)) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if problems or not planned -%}
        {%- do exceptions.raise_compiler_error((problems or ['no entity has a load yet.']) | join('\n') ~ '\nNo entity got the tag ' ~ name ~ '.') -%}
    {%- endif -%}
    {%- for capture, found in planned -%}
        {%- if not found.is_there -%}
            {%- do spark_cdc._send('create view if not exists ' ~ spark_cdc._tag(capture, name) ~ ' as\n' ~ found.text) -%}
        {%- endif -%}
        {%- do log(capture.entity.name ~ ': ' ~ name ~ (' was already' if found.is_there else ' is now') ~ ' the state after '
            ~ found.manifest.loads[-1] ~ ', ' ~ spark_cdc._counted(found.manifest.rows, 'row'), info=true) -%}
    {%- endfor -%}
{%- endmacro -%}
