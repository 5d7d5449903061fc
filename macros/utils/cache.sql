{#- What this run knows of a relation, without a statement for it: none if it is not there, else an
    object with `information`, the text of `show table extended`. dbt's cache has both. That of
    dbt v2 has no information: there one statement per schema asks for it, and a relation that this
    run has made or dropped since is a value of its own, so that threads don't overwrite each
    other's. -#}
{%- macro _known(relation) -%}
    {%- if not spark_cdc._of_dbt_2() -%}{{ return(load_cached_relation(relation)) }}{%- endif -%}
    {%- set memo, schema, name = spark_cdc._memo(), relation.schema | lower, relation.identifier | lower -%}
    {%- if 'relation ' ~ schema ~ '.' ~ name in memo -%}{{ return(memo['relation ' ~ schema ~ '.' ~ name]) }}{%- endif -%}
    {%- if 'schema ' ~ schema not in memo -%}
        {%- set found = {} -%}
        {%- if spark_cdc._has_schema(schema) -%}
            {%- for row in spark_cdc._query('show table extended in ' ~ spark_cdc._quote(schema) ~ " like '*'") -%}
                {%- do found.update({row.tableName | lower: {'information': row.information}}) -%}
            {%- endfor -%}
        {%- endif -%}
        {%- do memo.update({'schema ' ~ schema: found}) -%}
    {%- endif -%}
    {{ return(memo['schema ' ~ schema].get(name)) }}
{%- endmacro -%}


{#- Lets the rest of the run know of a relation that was made or altered. Arguments: relation, type
    (table or view), information (as far as it is read). -#}
{%- macro _note_relation(relation, type, information='') -%}
    {%- do adapter.cache_dropped(relation) -%}
    {%- do adapter.cache_added(relation.incorporate(type=type, information=information)) -%}
    {%- do spark_cdc._note_known(relation, {'information': information}) -%}
{%- endmacro -%}


{#- Lets the rest of the run know that a relation is gone. -#}
{%- macro _note_dropped(relation) -%}
    {%- do adapter.cache_dropped(relation) -%}
    {%- do spark_cdc._note_known(relation, none) -%}
{%- endmacro -%}


{%- macro _note_known(relation, known) -%}
    {%- if spark_cdc._of_dbt_2() -%}{%- do spark_cdc._memo().update({'relation ' ~ (relation.schema ~ '.' ~ relation.identifier) | lower: known}) -%}{%- endif -%}
{%- endmacro -%}


{#- Whether a schema is there; dbt v2 would ask an information_schema, which Spark does not
    have. -#}
{%- macro _has_schema(schema) -%}
    {%- if not spark_cdc._of_dbt_2() -%}{{ return(adapter.check_schema_exists(target.database, schema)) }}{%- endif -%}
    {{ return(spark_cdc._query('show schemas like ' ~ spark_cdc._literal(schema)) | length > 0) }}
{%- endmacro -%}


{#- A temporary view that outlives the session, if need be: dbt v2 renders a data test in another
    session than it runs it in. Returns a dictionary: created (as in `create or replace`), name (in
    queries). -#}
{%- macro _view_of_test(name) -%}
    {%- if not spark_cdc._of_dbt_2() -%}{{ return({'created': 'temporary view ' ~ name, 'name': name}) }}{%- endif -%}
    {%- set own = name ~ '_' ~ invocation_id.split('-')[0] -%}
    {{ return({'created': 'global temporary view ' ~ own, 'name': 'global_temp.' ~ own}) }}
{%- endmacro -%}
