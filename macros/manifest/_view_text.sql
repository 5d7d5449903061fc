{#- What a view is made of, as the metastore has it at this moment. -#}
{%- macro _view_text(view) -%}{{ return(spark_cdc._query('show create table ' ~ view)[0].createtab_stmt) }}{%- endmacro -%}


{#- The same in what `show table extended` says of a view, as dbt's cache has it; an empty text where it is no view. -#}
{%- macro _view_text_in(information) -%}
    {%- set found = modules.re.search(
        '(?:^|\n)View Text: (.*?)\n(?=View (?:Original Text|Schema Mode|Catalog))', information or '', modules.re.DOTALL) -%}
    {{ return(found.group(1) if found else '') }}
{%- endmacro -%}


{#- Gives dbt's cache the text that a view has by now, in the form that _view_text_in() reads. Operations begin without a cache, and a relation that is
    added to an empty one would pass for all that there is. -#}
{%- macro _cache_view_text(view, text) -%}
    {%- if not spark_cdc._is_begun_load() -%}{{ return('') }}{%- endif -%}
    {%- do adapter.cache_dropped(view) -%}
    {%- do adapter.cache_added(view.incorporate(type='view', information='View Text: ' ~ text ~ '\nView Original Text: ')) -%}
{%- endmacro -%}
