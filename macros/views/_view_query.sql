{#- A query with a comment in front of its columns. -#}
{%- macro _stamped(sql, fingerprint) -%}
    {{ return('with\n/* ' ~ fingerprint ~ ' */\nquery_of_view as (\n' ~ sql ~ '\n)\n\nselect * from query_of_view') }}
{%- endmacro -%}


{#- The query of a view, stamped with the definition of the columns: a view keeps its columns' types until it is altered, also if what it
    selects from has others by now. -#}
{%- macro _typed_view_sql(sql, manifest) -%}
    {{ return(sql ~ ('\n/* columns of definition ' ~ manifest.definition ~ ' */' if manifest.definition else '')) }}
{%- endmacro -%}
