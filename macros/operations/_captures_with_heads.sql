{#- Entities with the manifests that readers see, for operations that look at many of them: one statement that lists schemas, one per schema. An entity whose
    configuration is wrong stops no other: what is wrong with it is handed back. Arguments: operation (name of the macro, for messages), names (list of
    entities, or one; none for all). Returns a dictionary: captures (each with head, its manifest), broken (name to list of problems). -#}
{%- macro _captures_with_heads(operation, names=none) -%}
    {%- set wanted = [names] if names is string else (names or []) -%}
    {%- set problems = spark_cdc._branch_problems() -%}
    {%- if problems -%}{%- do exceptions.raise_compiler_error('spark_cdc.' ~ operation ~ ': ' ~ problems | join) -%}{%- endif -%}
    {%- set captures, broken, known = [], {}, [] -%}
    {%- for name, node, ledger in spark_cdc._entity_nodes() -%}
        {%- do known.append(name) -%}
        {%- if not wanted or name in wanted -%}
            {%- set problems = spark_cdc._needed_problems(name, node) if operation == 'secrets'
                else spark_cdc._entity_problems(name, node) + spark_cdc._model_problems(name, spark_cdc._settings_of(node), ledger) -%}
            {%- if problems -%}
                {%- do broken.update({name: problems}) -%}
            {%- else -%}
                {%- do captures.append(spark_cdc._capture(spark_cdc._described_entity(name, node), graph.nodes[ledger].schema)) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if wanted | reject('in', known) | list -%}{%- do spark_cdc._captures(operation, wanted) -%}{%- endif -%}  {#- which says what is wrong -#}
    {%- set manifests = spark_cdc._committed_texts(captures | map(attribute='schema')) -%}
    {%- set found = [] -%}
    {%- for capture in captures -%}
        {%- set text = manifests.get(capture.schema ~ '.' ~ capture.committed.identifier) -%}
        {%- set head = spark_cdc._parse_manifest(text, capture.committed) if text is not none else spark_cdc._empty_manifest() -%}
        {%- do found.append(dict(capture, head=head)) -%}
    {%- endfor -%}
    {{ return({'captures': found, 'broken': broken}) }}
{%- endmacro -%}
