{#- What is wrong with a pattern of dates or times: Spark refuses letters, or so many of them, or reads nothing by it. Returns a text, or none. -#}
{%- macro _pattern_problem(format) -%}
    {%- set most = {'y': 6, 'M': 4, 'L': 4, 'd': 2, 'D': 3, 'H': 2, 'h': 2, 'k': 2, 'K': 2, 'm': 2, 's': 2, 'S': 9, 'a': 1, 'G': 4, 'z': 4, 'O': 4, 'X': 5, 'x': 5,
                    'Z': 5, 'V': 2} -%}
    {%- set seen = namespace(quoted=false, run='', open=0, problem=none) -%}
    {%- set letters = [] -%}
    {%- for sign in format ~ ' ' -%}
        {%- if seen.run and (seen.quoted or sign != seen.run[0]) -%}
            {%- set letter, count = seen.run[0], seen.run | length -%}
            {%- if count > most.get(letter, 0) or (letter == 'V' and count != 2) or (letter == 'O' and count not in [1, 4]) -%}
                {%- set seen.problem = "'%s' is no part of Spark's patterns" % seen.run -%}
            {%- endif -%}
            {%- do letters.append(letter) -%}
            {%- set seen.run = '' -%}
        {%- endif -%}
        {%- if sign == "'" -%}
            {%- set seen.quoted = not seen.quoted -%}
        {%- elif not seen.quoted and (sign | lower) in 'abcdefghijklmnopqrstuvwxyz' -%}
            {%- set seen.run = seen.run ~ sign -%}
        {%- elif not seen.quoted and sign in '#{}[]' -%}
            {%- set seen.open = seen.open + {'[': 1, ']': -1}.get(sign, 0) -%}
            {%- if sign in '#{}' or seen.open < 0 -%}{%- set seen.problem = "'%s' has no meaning there" % sign -%}{%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set hours = letters | select('in', ['H', 'h', 'k', 'K', 'a']) | list -%}
    {%- set reasons = spark_cdc._broken({}, [
        (seen.problem is not none, seen.problem | default('', true) | replace('%', '%%')),
        (seen.quoted, "a quote (') is not closed"),
        (seen.open > 0, 'a bracket ([) is not closed'),
        ('m' in letters and not hours, 'there are minutes (m) without hours; a month is M'),
        (('h' in letters or 'K' in letters) and 'a' not in letters, 'there are hours of half a day (h, K) without AM or PM (a); hours from 0 to 23 are H'),
        ('D' in letters and ('M' in letters or 'L' in letters), 'there is a day of the year (D) beside a month; a day of the month is d'),
        (not letters, "there is no letter of Spark's patterns; %%Y and the like are no such letters"),
    ]) -%}
    {{ return(reasons[0] if reasons else none) }}
{%- endmacro -%}
