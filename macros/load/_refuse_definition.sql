{#- Refuses a load whose columns can't follow those of the loads before. Arguments: entity, problems (texts), load (of _plan_load(), if known). -#}
{%- macro _refuse_definition(entity, problems, load=none) -%}
    {%- set message -%}
{{ entity.name }}: its columns are not those of the loads before, and the change can not be applied:
  - {{ problems | join('.\n  - ') }}.
Nothing was written. What can be changed, and how, is in docs/schema_change.md. To give up the loads so far, start the ledger anew: {# -#}
{{ spark_cdc._load_command(entity, load.business_time if load else spark_cdc._business_date(entity.name), more={'spark_cdc_wipe': '[' ~ entity.name ~ ']'}) }}.
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, 'definition', message, load) -%}
{%- endmacro -%}
