{#- A text as a regular expression that means just it: each character by its number. -#}
{%- macro _pattern_of(text) -%}
    {%- set characters = [] -%}
    {%- for character in text.replace('\\t', '\t') -%}{%- do characters.append('\\x{' ~ character.encode('utf-32-be').hex() ~ '}') -%}{%- endfor -%}
    {{ return(characters | join) }}
{%- endmacro -%}
