{#- The entities that an operation on drafts is about: those named, or all that have a draft. Returns a list of dictionaries: entity,
    ledger, committed, replay (relations), draft (manifest, or an empty one). -#}
{%- macro _drafted_entities(operation, names) -%}
    {%- set found = [] -%}
    {%- for known in spark_cdc._named_entities(operation, names) -%}
        {%- set draft = spark_cdc._read_draft(known.committed, known.entity.name) -%}
        {%- if draft.existed or names -%}
            {%- do found.append(dict(
                known, draft=draft, replay=spark_cdc._relation_in(known.committed.schema, known.entity.name ~ '_replay'))) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not found -%}
        {% do exceptions.raise_compiler_error(
            'spark_cdc.' ~ operation ~ ': no entity has a draft of a replay. Begin one: spark-cdc replay --from DATE. Nothing was changed.'
        ) %}
    {%- endif -%}
    {{ return(found) }}
{%- endmacro -%}
