{#- What is wrong with the vars that hold settings of all entities. Returns a list of texts. -#}
{%- macro _var_problems() -%}
    {%- set rules = spark_cdc._known_settings().vars -%}
    {%- set given = {} -%}
    {%- for name in rules if var(name, none) is not none -%}{%- do given.update({name: var(name)}) -%}{%- endfor -%}
    {%- set problems = [] -%}
    {%- for problem in spark_cdc._setting_problems('the var ', given, rules) -%}{%- do problems.append(problem ~ '.') -%}{%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
