{#- Names for a message, quoted and escaped where they have blanks that nobody would see. -#}
{%- macro _names_shown(names) -%}
    {%- set shown = [] -%}
    {%- for name in names -%}
        {%- set is_odd = modules.re.search('^ | $|  |[^\\S ]|[\x00-\x1f\x7f\u200b-\u200f\u2060\ufeff]', name) -%}
        {%- do shown.append(tojson(name) if is_odd else name) -%}
    {%- endfor -%}
    {{ return(shown | join(', ')) }}
{%- endmacro -%}
