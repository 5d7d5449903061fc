{#- What is wrong with settings, as their rules say it. Arguments: label (what stands in front of a setting's name in messages, such as
    'source.'), given (dictionary), rules (a table of _known_settings), load_type (none where it plays no part).
    Returns a list of texts: what was found, what is accepted, what to do. -#}
{%- macro _setting_problems(label, given, rules, load_type=none) -%}
    {%- set problems = [] -%}
    {%- for name, rule in rules.items() if name in given or rule.get('required') -%}
        {%- set value = given.get(name) -%}
        {%- set problem = spark_cdc._refusal(label ~ name, value, rule) -%}
        {%- if problem is not none -%}
            {%- do problems.append(problem) -%}
        {%- elif rule.get('settings') and value is mapping -%}
            {%- do problems.extend(spark_cdc._unknown_key_problems(label ~ name, value, rule.settings | list)) -%}
            {%- do problems.extend(spark_cdc._setting_problems(label ~ name ~ '.', value, rule.settings)) -%}
        {%- elif rule.get('each') and value -%}
            {%- for one, below in value.items() -%}
                {%- do problems.extend(spark_cdc._setting_problems(label ~ name ~ '.', {one: below}, {one: {
                    'kind': 'mapping', 'settings': rule.each,
                }})) -%}
            {%- endfor -%}
        {%- endif -%}
        {%- for type, reason in rule.get('unless', {}).items() if value and load_type == type -%}
            {%- do problems.append(label ~ name ~ ' is given, but load_type is ' ~ type ~ ', ' ~ reason) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
