{#- What is wrong with columns whose ledger is a table of Delta or Iceberg, or of ORC, which Spark does not read back. Arguments: columns (of the YAML), settings (meta.spark_cdc). Returns a list of
    texts. -#}
{%- macro _table_format_problems(columns, settings) -%}
    {%- set format = settings.get('file_format') or spark_cdc._var('spark_cdc_file_format') -%}
    {%- set problems = [] -%}
    {%- set sources = [settings.get('source')] + ((settings.get('sources') or {}).values() | list if settings.get('sources') is mapping else []) -%}
    {%- set reads_orc = sources | select('mapping') | selectattr('format', 'defined') | selectattr('format', 'equalto', 'orc') | list | length > 0 -%}
    {%- for column in columns -%}
        {%- set name, data_type = column['name'] | string, column.get('data_type') | string -%}
        {%- set stored = name if spark_cdc._meta_of(column).get('role') != 'control' else '' -%}
        {%- set read = spark_cdc._meta_of(column).get('from', name) | string -%}
        {%- set fields = data_type.replace('``', '\x00').split('`')[1::2] | join(' ') | replace('\x00', '`') -%}
        {%- do problems.extend(spark_cdc._broken({'name': name, 'type': data_type, 'read': read}, [
            (format == 'orc' and '`' in stored ~ fields.replace(' ', ''),
             "column '%(name)s' has a backtick in its name or in that of a field (%(type)s), which Spark does not find again in ORC files: rename it and say under "
             'meta `from`, or set file_format: parquet'),
            (reads_orc and '`' in read ~ fields,
             "column '%(name)s' is read from '%(read)s' (%(type)s) of ORC files, in which Spark finds no name with a backtick: have it delivered under another name, or in "
             'parquet'),
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
