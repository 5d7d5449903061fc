{#- What is given of some settings, and of the others the defaults of their rules (see _known_settings). Returns a dictionary. -#}
{%- macro _completed(given, rules) -%}
    {%- set whole = {} -%}
    {%- for name, rule in rules.items() -%}
        {%- do whole.update({name: rule.get('default')}) -%}
    {%- endfor -%}
    {%- do whole.update(given or {}) -%}
    {{ return(whole) }}
{%- endmacro -%}
