{#- Refuses to drop anything of an entity, since nobody can tell what it needs. Arguments: operated (capture), why (text). -#}
{%- macro _refuse_vacuum(operated, why) -%}
    {%- set message -%}
{{ operated.entity.name }}: {{ why }}. Nothing of this entity was dropped. Run spark-cdc verify --select {# -#}
{{ operated.entity.name }}, which says how to repair it, or leave the entity out.
    {%- endset -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}
