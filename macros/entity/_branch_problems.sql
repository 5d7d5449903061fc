{#- What is wrong with the branch that a command is to work in (spark-cdc … --branch NAME, which sets both environment variables): a schema that is none would be loaded
    from nothing. Returns a list of texts. -#}
{%- macro _branch_problems() -%}
    {%- set branch = env_var('SPARK_CDC_BRANCH', '') -%}
    {%- if not branch -%}{{ return([]) }}{%- endif -%}
    {%- set schema = '{' ~ "{ env_var('SPARK_CDC_SCHEMA', '" ~ target.schema ~ "') }" ~ '}' -%}
    {%- set given = {'branch': branch, 'found': target.schema, 'profile': target.profile_name, 'schema': schema} -%}
    {%- if target.schema != branch -%}
        {{ return(spark_cdc._broken(given, [
            (true,
             "--branch %(branch)s: the target's schema is %(found)s, since the profile '%(profile)s' does not take it from the environment. Write "
             'schema: "%(schema)s" into it, or leave --branch out and name a target with that schema.'),
        ])) }}
    {%- endif -%}
    {{ return(spark_cdc._broken(given, [
        (spark_cdc._branch_marker_of(branch) is none,
         '--branch %(branch)s: there is no such branch. spark-cdc branch list shows those that are there, spark-cdc branch create %(branch)s makes it.'),
    ])) }}
{%- endmacro -%}
