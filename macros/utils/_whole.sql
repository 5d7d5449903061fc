{#- A relation, as ref() gives it, but never a part of its rows: with --empty and --sample a view would be made of that part, a test see it. -#}
{%- macro _whole(relation) -%}{{ return(relation.replace(limit=none, event_time_filter=none)) }}{%- endmacro -%}
