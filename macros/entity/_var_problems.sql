{#- What is wrong with the vars that hold settings of all entities. Argument: names (of vars; none for all). Returns a list of texts. -#}
{%- macro _var_problems(names=none) -%}
    {%- set rules = spark_cdc._known_settings().vars -%}
    {%- set given = {} -%}
    {%- for name in names or rules if var(name, none) is not none -%}{%- do given.update({name: var(name)}) -%}{%- endfor -%}
    {%- set problems = [] -%}
    {%- for problem in spark_cdc._setting_problems('the var ', given, rules) -%}{%- do problems.append(problem ~ '.') -%}{%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
