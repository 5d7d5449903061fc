{#- What is outstanding: business dates that lie in the landing or the source table and are not committed, for people and for spark-cdc run: prints a
    line of JSON behind `spark_cdc outstanding: `. Nothing is written. An entity whose configuration is wrong has that told in the list: the others can be loaded. Few statements whatever the number of entities: one that lists schemas, one
    per schema, two for all files, one for all tables.
        dbt run-operation spark_cdc.outstanding --args '{entities: [orders]}'
    Arguments: entities (list of names, or one; none for all). Returns nothing. -#}
{%- macro outstanding(entities=none) -%}
    {%- set wanted = [entities] if entities is string else (entities or []) -%}
    {%- set captures, broken, known = [], {}, [] -%}
    {%- for name, node, ledger in spark_cdc._entity_nodes() -%}
        {%- do known.append(name) -%}
        {%- if not wanted or name in wanted -%}
            {%- set problems = spark_cdc._entity_problems(name, node) + spark_cdc._model_problems(name, spark_cdc._settings_of(node), ledger) -%}
            {%- if problems -%}
                {%- do broken.update({name: problems}) -%}
            {%- else -%}
                {%- do captures.append(spark_cdc._capture(spark_cdc._described_entity(name, node), graph.nodes[ledger].schema)) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if wanted | reject('in', known) | list -%}{%- do spark_cdc._captures('outstanding', wanted) -%}{%- endif -%}  {#- which says what is wrong -#}
    {%- set manifests = spark_cdc._committed_texts(captures | map(attribute='schema')) -%}
    {%- set heads, since = {}, {} -%}
    {%- for capture in captures -%}
        {%- set text = manifests.get(capture.schema ~ '.' ~ capture.committed.identifier) -%}
        {%- set head = spark_cdc._parse_manifest(text, capture.committed) if text is not none else spark_cdc._empty_manifest() -%}
        {%- do heads.update({capture.entity.name: head}) -%}
        {%- do since.update({capture.entity.name: spark_cdc._load_time(head.loads[-1]) if head.loads else none}) -%}
    {%- endfor -%}
    {%- set landed = spark_cdc._landed_times(captures, since) -%}
    {%- set listed = [] -%}
    {%- for capture in captures -%}
        {%- do listed.append(spark_cdc._outstanding_of(capture, heads[capture.entity.name], landed[capture.entity.name])) -%}
    {%- endfor -%}
    {%- for name, problems in broken.items() -%}{%- do listed.append({'entity': name, 'broken': problems | join('; ')}) -%}{%- endfor -%}
    {%- do print('spark_cdc outstanding: ' ~ tojson(listed)) -%}
{%- endmacro -%}
