{#- What is wrong with the columns by which files are laid out. -#}
{%- macro _cluster_problems(columns, names) -%}
    {%- set accepted, unordered = [], [] -%}
    {%- for column in columns if spark_cdc._meta_of(column).get('role') != 'control' -%}
        {%- do (unordered if modules.re.match('(?i) *(array|struct|map|binary)', (column.get('data_type') or '') | string) else accepted).append(column['name'] | lower) -%}
    {%- endfor -%}
    {%- set problems = [] -%}
    {%- for name in names if name | lower not in accepted -%}
        {%- do problems.append("cluster_by names '" ~ name ~ "', which is " ~ ('of a type without an order that files know'
            if name | lower in unordered else 'no column that is stored') ~ '; accepted are ' ~ accepted | join(', ')) -%}
    {%- endfor -%}
    {%- if names | length > 4 or names | map('lower') | unique | list | length < names | length -%}
        {%- do problems.append('cluster_by is ' ~ names | join(', ') ~ '; accepted are 1 to 4 columns, each once: with more of them none is worth much') -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}
