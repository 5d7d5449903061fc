{#- What the events of a load are like (see _event_summary()). Refuses the load where they are of several tables, and the entity's settings do not say which of
    them are its own. Arguments: run, events (of _event_summary()). -#}
{%- macro _checked_summary(run, events) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- set summary = spark_cdc._event_summary(run, events) -%}
    {%- set found = (summary.get('origins') or {}).get('table') -%}
    {%- set is_chosen = entity.events.get('table') is not none -%}
    {%- if not found or spark_cdc._is_lifted(entity.name, 'tables') or is_chosen and not summary.truncates -%}
        {{ return(summary) }}
    {%- endif -%}
    {%- set names = [] -%}
    {%- for name, event_count in found.items() -%}{%- do names.append(name ~ ' (' ~ spark_cdc._counted(event_count, 'event') ~ ')') -%}{%- endfor -%}
    {%- set before = load.applied.get('origin', {}).get('table') -%}
    {%- set message -%}
{{ entity.name }}: the events of {{ load.business_time }} are of {{ spark_cdc._counted(names | length, 'table') }}: {{ names[:5] | join(', ') }}{{ ', …' if names | length > 5 }}
{%- if before not in [none, '*'] %}; those of the loads before are of {{ before }}{% endif %}.
{%- if is_chosen %} A truncate of one of them would delete the rows of all. Nothing was committed and readers see what they saw before. Keep truncates out of the {# -#}
source, and load a full snapshot in their place. To delete all rows: {{ spark_cdc._lift_command(entity, load, ['tables']) }}
{%- else %} Nothing was committed and readers see what they saw before. Set events.table in the YAML of stg_{{ entity.name }} to the table of the entity, or to a list {# -#}
or a pattern such as orders_* where rows of several tables belong together, and run the same command again.
{%- endif -%}
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, 'tables', message, load) -%}
{%- endmacro -%}
