{#- The name that a word is most likely a slip of: equal but for case, - and _, or but for a few neighbouring letters. Arguments: word, names.
    Returns one of the names, or none. -#}
{%- macro _meant_by(word, names) -%}
    {%- set given = word | string | lower | replace('-', '') | replace('_', '') | replace(' ', '') -%}
    {%- for name in names -%}
        {%- set known = name | replace('_', '') -%}
        {%- set same = namespace(front=0, back=0) -%}
        {%- set shorter = [given | length, known | length] | min -%}
        {%- for at in range(1, shorter + 1) if given[:at] == known[:at] -%}{%- set same.front = at -%}{%- endfor -%}
        {%- for at in range(1, shorter - same.front + 1) if given[-at:] == known[-at:] -%}{%- set same.back = at -%}{%- endfor -%}
        {%- set wrong, right = given[same.front:given | length - same.back], known[same.front:known | length - same.back] -%}
        {%- set letters = [wrong | length, right | length] | max -%}
        {%- if letters <= [1, known | length // 3] | max or (letters == 2 and wrong == right | reverse) -%}{{ return(name) }}{%- endif -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}
