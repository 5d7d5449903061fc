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
