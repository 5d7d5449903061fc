{#- The table with the secret that hashes over some columns are keyed with: none, if none of them is sensitive. -#}
{%- macro _secret_of(columns) -%}
    {{ return(columns | selectattr('secret', 'defined') | map(attribute='secret') | select | first | default(none)) }}
{%- endmacro -%}
