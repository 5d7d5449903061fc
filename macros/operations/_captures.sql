{#- The entities that an operation is about. Operations that load have them checked as a run does, others as far as they need it; all that is wrong is raised at once.
    Where no entity is named, one that is wrong keeps operations from no other, unless they are for all or none.
    Arguments: operation (name of the macro, for messages), names (list of entities, or one; none for all). Returns a list of
    captures (of _capture()), each with ledger_node (dbt's). -#}
{%- macro _captures(operation, names=none) -%}
    {%- set wanted = [names] if names is string else (names or []) -%}
    {%- set loads, each = operation in ['backfill', 'plan'], operation in ['vacuum', 'compact', 'load_status', 'report', 'verify'] -%}
    {%- set problems = spark_cdc._schema_problems(target.schema) + spark_cdc._var_problems(none if loads else ['spark_cdc_sensitive_schema']) -%}
    {%- set known = [] -%}
    {%- set found = [] -%}
    {%- for name, node, ledger in spark_cdc._entity_nodes() -%}
        {%- do known.append(name) -%}
        {%- if not wanted or name in wanted -%}
            {%- set wrong = spark_cdc._entity_problems(name, node) if loads else spark_cdc._needed_problems(name, node) -%}
            {%- if wrong and each and not wanted -%}
                {%- do exceptions.warn('spark_cdc.' ~ operation ~ ': left out ' ~ name ~ ', which is wrong:\n  - ' ~ wrong | join('\n  - ')) -%}
            {%- else -%}
                {%- do problems.extend(wrong) -%}
                {%- do found.append((name, node, graph.nodes[ledger])) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for name in wanted if name not in known -%}
        {%- set problem -%}
there is no entity '{{ name }}' with a model stg_{{ name }} and a model {{ name }}_ledger; accepted are {{ known | join(', ') }}
        {%- endset -%}
        {%- do problems.append(problem) -%}
    {%- endfor -%}
    {%- if problems -%}
        {%- set message -%}
spark_cdc.{{ operation }} found {{ spark_cdc._counted(problems | length, 'problem') }} before anything was done:
  - {{ problems | unique | join('\n  - ') }}
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- set captures = [] -%}
    {%- for name, node, ledger_node in found -%}
        {%- do captures.append(dict(spark_cdc._capture(spark_cdc._described_entity(name, node), ledger_node.schema), ledger_node=ledger_node)) -%}
    {%- endfor -%}
    {{ return(captures) }}
{%- endmacro -%}


{#- The entities that an operation on drafts is about: those named, or all that have a draft. Returns captures with draft (manifest, or an
    empty one). -#}
{%- macro _drafted_captures(operation, names) -%}
    {%- set found = [] -%}
    {%- for capture in spark_cdc._captures(operation, names) -%}
        {%- set draft = spark_cdc._read_draft(capture) -%}
        {%- if draft.existed or names -%}{%- do found.append(dict(capture, draft=draft)) -%}{%- endif -%}
    {%- endfor -%}
    {%- if not found -%}
        {%- set message -%}
spark_cdc.{{ operation }}: no entity has a draft of a replay. Begin one: spark-cdc replay --from DATE --select ENTITY. Nothing was changed.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {{ return(found) }}
{%- endmacro -%}
