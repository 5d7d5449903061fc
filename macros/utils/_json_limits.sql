{#- Options of from_json() without which its parser takes no number of more than 1,000 digits and no text of more than 20,000,000 letters. -#}
{%- macro _json_limits() -%}'maxNumLen', '2147483647', 'maxStringLen', '2147483647'{%- endmacro -%}
