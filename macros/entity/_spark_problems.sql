{#- What a run would load that the Spark at the target can't: all that depends on its version. Argument: loads (the entities that are loaded: (name, settings
    as they were written)). Returns a list of texts. -#}
{%- macro _spark_problems(loads) -%}
    {%- set version, text = spark_cdc._spark_version() -%}
    {%- if version is none or version >= [4, 0] -%}{{ return([]) }}{%- endif -%}
    {%- if version < [3, 5] -%}
        {{ return(['the server of the target %s is Spark %s; accepted are Spark 3.5 and newer. Load with such a one: another host in the profile, or for a '
            'local server another pyspark (docs/limits.md).' % (target.name, text)]) }}
    {%- endif -%}
    {%- set problems = [] -%}
    {%- for name, settings in loads -%}
        {%- for option in spark_cdc._query_options(settings) -%}
            {%- do problems.append('%s: the option %s of its source takes Spark 4.0 or newer, and the server of the target %s is Spark %s. Leave the option out, '
                'or load with a newer Spark.' % (name, option, target.name, text)) -%}
        {%- endfor -%}
        {%- for id in selected_resources if id.endswith('.' ~ name ~ '_bitemporal') -%}
            {%- do problems.append('%s: %s_bitemporal takes Spark 4.0 or newer, and the server of the target %s is Spark %s, whose analyzer gives up on a query of '
                'that depth. Leave the model out (--exclude %s_bitemporal), or load with a newer Spark.' % (name, name, target.name, text, name)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The options of an entity's sources that are said in queries on a path (_direct_sql()), which Spark 3.5 does not know. -#}
{%- macro _query_options(settings) -%}
    {%- set names = [] -%}
    {%- set others = settings.get('sources') -%}
    {%- for source in [settings.get('source')] + (others.values() | list if others is mapping else []) -%}
        {%- set options = source.get('options') if source is mapping else none -%}
        {%- for name in (options if options is mapping else []) if name | lower in ['pathglobfilter', 'modifiedbefore', 'modifiedafter', 'linesep'] -%}
            {%- do names.append(name) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(names | unique | list) }}
{%- endmacro -%}
