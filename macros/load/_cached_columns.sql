{#- The columns of a table as dbt's look at the catalogue has them, if they are the wanted ones and plain: an empty list where they are not, or where a
    type is not told whole. Arguments: table (relation), columns (that are written, see _settled_table()). Returns dictionaries: name, dtype. -#}
{%- macro _cached_columns(table, columns) -%}
    {%- set types = {} -%}
    {%- for column in columns -%}{%- do types.update({column.at | lower: spark_cdc._plain_type(column.data_type)}) -%}{%- endfor -%}
    {%- set cached, found = load_cached_relation(table), [] -%}
    {%- for name, dtype in modules.re.findall('(?m)^ [|]-- (.*): ([a-z_0-9(),]+) [(]nullable = (?:true|false)[)]$', (cached.information if cached else none) or '') -%}
        {%- if types.pop(name | lower, none) == spark_cdc._plain_type(dtype) -%}{%- do found.append({'name': name, 'dtype': dtype}) -%}
        {%- else -%}{{ return([]) }}{%- endif -%}
    {%- endfor -%}
    {{ return(found if not types else []) }}
{%- endmacro -%}
