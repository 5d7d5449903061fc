{#- Creates a view, or alters it: what readers hold on to is never gone in between, as it would be with `create or replace`. -#}
{%- macro _replace_view_sql(view, text, exists) -%}
{{ ('alter view ' if exists else 'create view if not exists ') ~ view }} as
{{ text }}
{%- endmacro -%}
