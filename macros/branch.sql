{#- A place to try things: a schema of its own in which entities are as they are in production now, and where loads, replays, undo and changes of columns
    leave production as it is. What was loaded there is read where it lies, nothing is copied; what the branch writes lies in its own tables
    (docs/branches.md). Run it with production's target; the branch is the same project with a target whose schema is the branch's name. The same command
    again does what one that was interrupted has left.
        dbt run-operation spark_cdc.branch --args '{name: pr_7, entities: [orders, customers]}'
    Arguments: name (of the branch and its schema: lower case letters, digits, underscores; none prints all branches as a line of JSON), entities (list of
    names, or one; none for all that have a load), drop (whether the branch is dropped, with all that lies in its schemas). Returns nothing. -#}
{%- macro branch(name=none, entities=none, drop=false) -%}
    {%- do spark_cdc._check_arguments('branch', {'name': name, 'entities': entities, 'drop': drop}) -%}
    {%- if name is none -%}
        {%- do print('spark_cdc branches: ' ~ tojson(spark_cdc._listed_branches(spark_cdc._captures('branch', entities)))) -%}
    {%- elif not modules.re.fullmatch('[a-z][a-z0-9_]{0,32}', name | string) or name.endswith('_commits') -%}
        {%- set message -%}
spark_cdc.branch: '{{ name }}' can't be the name of a branch, which is its schema's. Accepted are up to 33 lower case letters, digits and {# -#}
underscores, a letter first, that do not end in _commits: spark-cdc branch create pr_7. Nothing was changed.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- elif drop -%}
        {%- do spark_cdc._drop_branch(name) -%}
    {%- else -%}
        {%- do spark_cdc._create_branch(name, spark_cdc._captures('branch', entities)) -%}
    {%- endif -%}
{%- endmacro -%}
