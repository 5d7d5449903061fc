{#- Why a draft can't be published, with what to do; an empty text if it can. -#}
{%- macro _draft_problem(found, head) -%}
    {%- set name = found.entity.name -%}
    {%- if not found.draft.existed -%}
{{ name }}: there is no draft of a replay. Begin one: spark-cdc replay --from DATE --select {{ name }}, or for each date in order {# -#}
{{ spark_cdc._load_command(found.entity, none, more={'spark_cdc_replay': '{from: DATE}'}) }}.
    {%- elif found.draft.loads != head.loads -%}
        {%- set first = found.draft.replay['from'] -%}
        {%- set quoted = '"' ~ first ~ '"' if ' ' in first else first -%}
        {%- set outdated = spark_cdc._draft_outdated(found.draft, head) -%}
        {%- set missing = spark_cdc._draft_missing_times(found.entity, found.draft, spark_cdc._loads_by_date(found.masked, head.loads)) -%}
        {%- if outdated -%}
{{ name }}: the draft of the replay from {{ first }} is out of date: {{ outdated }}. Publishing it would undo that. Run the replay again, it {# -#}
begins anew: spark-cdc replay --from {{ quoted }} --select {{ name }}, or for each date in order {# -#}
{{ spark_cdc._load_command(found.entity, none, more={'spark_cdc_replay': '{from: ' ~ quoted ~ '}'}) }}.
        {%- elif missing -%}
{{ name }}: the draft of the replay from {{ first }} lacks {{ spark_cdc._counted(missing | length, 'date') }} that it would take the place {# -#}
of: {{ missing[:10] | join(', ') }}{{ ' and so on' if missing | length > 10 }}. Load them into it in order, then publish: spark-cdc replay {# -#}
--from {{ quoted }} --select {{ name }}, or for each of them {# -#}
{{ spark_cdc._load_command(found.entity, missing[0], more={'spark_cdc_replay': '{from: ' ~ quoted ~ '}'}) }}.
        {%- endif -%}
    {%- endif -%}
{%- endmacro -%}
