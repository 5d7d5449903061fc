{#- Rejected rows stop a load unless their kind, which their note says, is set aside (entity.quarantine). Two different events at one
    place do in any case: which of them holds nobody knows, and earlier events of the key are not applied either. -#}
{%- macro _check_rejects(run, known) -%}
    {%- set entity, ledger, load = run.entity, run.ledger, run.load -%}
    {%- set sql -%}
select
    get_json_object(note, '$.kind') as kind,
    count(*) as row_count
from {{ ledger }}
where load_id = '{{ load.load_id }}' and operation = 'R'
group by kind
order by kind desc
    {%- endset -%}
    {%- set found = spark_cdc._query(sql) | rejectattr('kind', 'in', entity.quarantine) | list -%}
    {%- if not found -%}{{ return('') }}{%- endif -%}
    {%- set found = found | selectattr('kind', 'equalto', 'tied_events') | list or found -%}
    {%- set kinds = found | map(attribute='kind') | list -%}
    {%- set lines = spark_cdc._tied_lines(run, known.record) if kinds == ['tied_events'] else spark_cdc._reject_lines(entity, ledger, load, kinds) -%}
    {%- set message -%}
{{ entity.name }}: {{ spark_cdc._counted(found | map(attribute='row_count') | map('int') | sum, 'row') }} of {{ load.business_time }} can't be {# -#}
accepted as declared in stg_{{ entity.name }}; {{ lines | length }} of them:
    - {{ lines | join('\n    - ') }}
Nothing was committed and readers see what they saw before. Correct the data or the types, and run the same command again. {# -#}
{%- if kinds != ['tied_events'] -%}
To set such rows aside this once: {{ spark_cdc._lift_command(entity, load, kinds) }}; always: {# -#}
{{ {'failed_rules': "action: drop of the rule", 'duplicate_keys': 'on_duplicate_key: quarantine'}.get(kinds | join, 'on_reject: quarantine') }}. {# -#}
{%- endif -%}
The rejected rows are in {{ ledger }} where load_id = '{{ load.load_id }}' and operation = 'R'.
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, kinds | join(', '), message, load, known) -%}
{%- endmacro -%}
