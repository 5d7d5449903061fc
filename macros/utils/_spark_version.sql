{#- The major and minor version of the Spark that answers, as a list of two numbers, and as it says it: (numbers, text); numbers are none where the text is of
    another kind, with which some vendors answer. -#}
{%- macro _spark_version() -%}
    {%- set text = (spark_cdc._query('select version() as version') | first | default({})).get('version') | string -%}
    {%- set match = modules.re.match('([0-9]+)[.]([0-9]+)', text) -%}
    {{ return((match.groups() | map('int') | list if match else none, text.split(' ')[0])) }}
{%- endmacro -%}
