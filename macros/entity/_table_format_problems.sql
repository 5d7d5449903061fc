{#- What is wrong with columns whose ledger is a table of Delta or Iceberg. Arguments: columns (of the YAML), settings (meta.spark_cdc). Returns a list of
    texts. -#}
{%- macro _table_format_problems(columns, settings) -%}
    {%- set format = settings.get('file_format') or spark_cdc._var('spark_cdc_file_format') -%}
    {%- set problems = [] -%}
    {%- for column in columns if format in spark_cdc._table_formats() -%}
        {%- set name, data_type = column['name'] | string, column.get('data_type') | string -%}
        {%- do problems.extend(spark_cdc._broken({'name': name, 'type': data_type}, [
            (format == 'delta' and modules.re.search('[ ,;{}()\n\t=]', name),
             "column '%(name)s' has a blank or one of ,;{}()= in its name, which Delta tables do not take: rename it and say under meta `from: %(name)s`, "
             'or set file_format: parquet, orc or iceberg'),
            (format == 'iceberg' and modules.re.search('(?i)(^|[<,: ])(tinyint|smallint|byte|short)($|[>, ])', data_type),
             "column '%(name)s' has the type %(type)s, but Iceberg tables have no integers below int: declare int in its place, or set file_format: parquet, "
             'orc or delta'),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
