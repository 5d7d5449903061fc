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


{#- Why a rule does not accept a value; none if it does. -#}
{%- macro _refusal(label, value, rule) -%}
    {%- set is_number = value is number and value is not boolean and 0 <= value < 10 ** 15 -%}  {#- neither .nan nor .inf -#}
    {%- set items = value if value is sequence and value is not string and value is not mapping else none -%}
    {%- set numbers = (items or []) | select('number') | reject('boolean') | list -%}
    {%- set accepted = rule.get('accepted', []) -%}
    {#- a kind, whether it is one, and what is accepted in words -#}
    {%- set is_accepted, words = {
        'any': (true, ''),
        'choice': (value in accepted, accepted | join(', ')),
        'pattern': (modules.re.fullmatch(rule.get('pattern', ''), value | string), ''),
        'boolean': (value is boolean, 'true and false'),
        'number': (is_number, 'numbers from 0'),
        'days': (is_number and value is integer, 'whole numbers of days from 0'),
        'band': (items and items | length == 2 and numbers | length == 2 and 0 <= items[0] <= items[1],
                 'two numbers from 0, the lower first, such as [0.2, 5],'),
        'value': (value is string or value is number or value is boolean, 'texts, numbers, true and false (a date between quotes)'),
        'names': (value is string or (items is not none and not items | reject('string') | list), 'a name and a list of names'),
        'text': (value is string, ''),
        'state': ((value is string) or value.year is defined, 'a load and a date'),
        'mapping': (value is mapping, rule.get('settings', {}) | join(', ') ~ ' below it'),
    }[rule.kind] -%}
    {%- set words = rule.get('says') or words -%}
    {%- if is_accepted or (value is none and rule.get('null')) -%}
        {{ return(none) }}
    {%- elif rule.kind in ['text', 'mapping'] -%}
        {{ return(label ~ ' is not a ' ~ rule.kind ~ ': write ' ~ words) }}
    {%- endif -%}
    {%- set found = value if rule.kind in ['names', 'value'] else "'" ~ value ~ "'" -%}
    {%- set off = (' or' if rule.kind == 'band' else ' and') ~ ' null (off)' if rule.get('null') == 'off' else '' -%}
    {{ return(label ~ ' is ' ~ found ~ '; accepted are ' ~ words ~ off ~ ': ' ~ ('choose one of them' if rule.kind == 'choice' else 'correct it')) }}
{%- endmacro -%}
