{#- Drops a branch: its schemas with all that lies in them, then its tags in production, and its markers last. -#}
{%- macro _drop_branch(name) -%}
    {%- set schemas = spark_cdc._branch_schemas(name, spark_cdc._branch_production_schemas()) -%}
    {%- set of_branch, others = [], [] -%}
    {%- for schema, mapped in schemas.items() if mapped is not none -%}
        {%- set marker = spark_cdc._branch_marker_of(mapped) -%}
        {%- if marker is not none and (marker.of, marker.name) == (schema, name) -%}
            {%- do of_branch.append(mapped) -%}
        {%- elif marker is not none -%}
            {%- do others.append(mapped ~ ' is a branch of ' ~ marker.of ~ ', and the target\'s schema is ' ~ target.schema
                ~ ': run it with the target of ' ~ marker.of) -%}
        {%- elif mapped == name and spark_cdc._query('show schemas like ' ~ spark_cdc._literal(name)) -%}
            {%- do others.append('the schema ' ~ name ~ ' is no branch, so it is not dropped') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set tags = spark_cdc._branch_tags(schemas | list, name) -%}
    {%- if others or not (of_branch or tags) -%}
        {%- set known = spark_cdc._branch_tags(schemas | list) | map(attribute='name') | unique | sort | join(', ') -%}
        {%- do exceptions.raise_compiler_error('spark_cdc.branch: ' ~ (others | join('; ') or 'there is no branch ' ~ name) ~ '. Accepted are ' ~ (known or 'none yet')
            ~ '. Nothing was dropped.') -%}
    {%- endif -%}
    {%- for schema in of_branch -%}{%- do spark_cdc._send('drop schema if exists ' ~ spark_cdc._quote(schema) ~ ' cascade') -%}{%- endfor -%}
    {%- for tag in tags -%}{%- do spark_cdc._send('drop view if exists ' ~ tag.view) -%}{%- endfor -%}
    {%- for schema in of_branch -%}{%- do spark_cdc._send('drop schema if exists ' ~ spark_cdc._quote(spark_cdc._branch_marker(schema).schema) ~ ' cascade') -%}{%- endfor -%}
    {%- do log('dropped the branch ' ~ name ~ ': ' ~ (of_branch | join(', ') or 'its schema was gone')
        ~ '; vacuum no longer keeps loads of production for it', info=true) -%}
{%- endmacro -%}
