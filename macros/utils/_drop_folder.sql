{#- Drops a folder with all that lies in it: as the place of a partition that is added and dropped at once, since no statement removes files otherwise.
    Arguments: table (a relation of Parquet or ORC), names (of its partition columns), folder. -#}
{%- macro _drop_folder(table, names, folder) -%}
    {%- set values, known = [], {'business_date': '1970-01-01', 'load_id': 'spark-staging'} -%}
    {%- for name in names -%}{%- do values.append(name ~ " = '" ~ known.get(name, '-') ~ "'") -%}{%- endfor -%}
    {%- set partition = 'partition (' ~ values | join(', ') ~ ')' -%}
    {%- do spark_cdc._send('alter table ' ~ table ~ ' drop if exists ' ~ partition) -%}  {#- of a statement that broke off -#}
    {%- do spark_cdc._send('alter table ' ~ table ~ ' add ' ~ partition ~ ' location ' ~ spark_cdc._literal(folder)) -%}
    {%- do spark_cdc._send('alter table ' ~ table ~ ' drop ' ~ partition) -%}
{%- endmacro -%}
