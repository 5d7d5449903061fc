{#- A view's query with a comment in front of its columns, by which cdc_view tells what it was made of. -#}
{%- macro _stamped_view_query(sql, fingerprint) -%}
with
/* {{ fingerprint }} */
query_of_view as (
{{ sql }}
)

select * from query_of_view
{%- endmacro -%}


{#- A view's query, stamped with the definition of the columns: a view keeps its columns' types until it is altered, also if what it
    selects from has others by now. -#}
{%- macro _typed_view_query(sql, manifest) -%}
{{ sql }}
{%- if manifest.definition %}
/* columns of definition {{ manifest.definition }} */
{%- endif %}
{%- endmacro -%}
