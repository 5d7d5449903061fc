{#- Makes sure that a table has the columns that are written, and returns all that it has, in its order: an insert goes by position. Missing
    ones are added, which harms nobody if the load comes to nothing; those that it has beyond are named none. A ledger that is wiped with
    columns of other types is set aside under another name, not dropped. -#}
{%- macro _settle_columns(entity, relation, columns) -%}
    {%- if load_cached_relation(relation) is none -%}{{ return(columns) }}{%- endif -%}
    {%- set partitions = ['business_date', 'load_id', 'operation'] -%}
    {%- set wanted = {} -%}
    {%- for column in columns -%}{%- do wanted.update({column.at | lower: column}) -%}{%- endfor -%}
    {%- set settled = [] -%}
    {%- set partitioned = [] -%}
    {%- set problems = [] -%}
    {%- for found in adapter.get_columns_in_relation(relation) -%}
        {%- set column = wanted.pop(found.name | lower, none) or {'name': none, 'at_sql': spark_cdc._quote(found.name), 'data_type': found.dtype} -%}
        {%- if spark_cdc._plain_type(column.data_type) != spark_cdc._plain_type(found.dtype) -%}
            {%- do problems.append(relation ~ " has a column '" ~ found.name ~ "' of the type " ~ found.dtype ~ ', and not ' ~ column.data_type) -%}
        {%- endif -%}
        {%- do (partitioned if found.name in partitions else settled).append(column) -%}
    {%- endfor -%}
    {%- set added = [] -%}
    {%- for column in wanted.values() -%}
        {%- do settled.append(column) -%}
        {%- do added.append(column.at_sql ~ ' ' ~ column.data_type) -%}
    {%- endfor -%}
    {%- if not problems -%}
        {%- if added -%}
            {%- do run_query('alter table ' ~ relation ~ ' add columns (' ~ added | join(', ') ~ ')') -%}
            {%- do log(entity.name ~ ': ' ~ relation ~ ' gets the columns ' ~ added | join(', ') ~ '. Sessions that have read it and are still open have to run: '
                ~ 'refresh table ' ~ relation, info=true) -%}
        {%- endif -%}
        {{ return(settled + partitioned) }}
    {%- endif -%}

    {%- if not spark_cdc._is_wiped(entity.name) -%}
        {%- do spark_cdc._refuse_definition(entity, problems) -%}
    {%- endif -%}
    {%- set aside = spark_cdc._sibling(relation.identifier ~ '_before_' ~ local_md5(invocation_id)[:8]) -%}
    {%- do log(entity.name ~ ': the ledger had other columns and is kept as ' ~ aside ~ '; drop it when nobody needs it. '
        ~ 'Sessions that are open already have to run: refresh table ' ~ relation, info=true) -%}
    {%- do run_query('alter table ' ~ relation ~ ' rename to ' ~ aside) -%}
    {{ return(columns) }}
{%- endmacro -%}
