{#- The rules that an entity's rows are judged by, as a list: name, condition (SQL over the columns), action (warn, drop or fail) and at_most (the share of
    judged rows that may break it, or none). Of a rule that drops it is a tenth, unless it is said: as of rejected rows. Argument: settings (meta.spark_cdc). -#}
{%- macro _rules(settings) -%}
    {%- set known, rules = spark_cdc._known_settings().entity.rules.each, [] -%}
    {%- for name, given in (settings.get('rules') or {}).items() -%}
        {%- set rule = spark_cdc._completed(given, known) -%}
        {%- set at_most = 0.1 if rule.action == 'drop' and 'at_most' not in given else rule.at_most -%}
        {%- do rules.append(dict(rule, name=name, at_most=at_most)) -%}
    {%- endfor -%}
    {{ return(rules) }}
{%- endmacro -%}


{#- What is wrong with rules, beyond what their settings say. A rule is one bit of a number, and its name stands in texts. -#}
{%- macro _rules_problems(settings) -%}
    {%- set given = settings.get('rules') if settings.get('rules') is mapping else {} -%}
    {%- set problems = [] -%}
    {%- if given | length > 62 -%}
        {%- do problems.append('rules has ' ~ given | length ~ ' rules; accepted are at most 62: join some of them') -%}
    {%- endif -%}
    {%- for name, rule in given.items() if rule is mapping -%}
        {%- do problems.extend(spark_cdc._broken({'name': name, 'at_most': rule.get('at_most')}, [
            (not modules.re.fullmatch('[a-z][a-z0-9_]*', name | string),
             "rules has a rule called '%(name)s'; accepted are lower-case letters, digits and _, beginning with a letter: rename it"),
            (rule.get('condition') is string and not rule.condition | trim,
             'rules.%(name)s.condition is empty: write a SQL condition over the columns, such as "amount >= 0"'),
            (rule.get('action') == 'fail' and rule.get('at_most') is not none,
             'rules.%(name)s.at_most is given, but with action: fail no row may break the rule: remove it, or choose drop or warn'),
            (rule.get('at_most') is number and rule.at_most > 1,
             'rules.%(name)s.at_most is %(at_most)s; accepted are shares from 0 to 1, such as 0.01: correct it'),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
