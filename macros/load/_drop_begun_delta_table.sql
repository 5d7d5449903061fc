{#- What a full disk, or a server that died, has left of a Delta table that was being made: a log without a version, for which Delta refuses to make the table ever
    after (DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION). Nothing was ever in it, so it is dropped. A folder that holds anything else stays, and Delta says so.
    A table's first version is written right after its log's folder, so another run that is making it now has hardly ever none: it is looked at twice.
    Arguments: entity, table (relation, which is not there). -#}
{%- macro _drop_begun_delta_table(entity, table) -%}
    {%- set load_log = spark_cdc._load_log() -%}
    {%- if load_log is none -%}{{ return('') }}{%- endif -%}
    {%- for row in spark_cdc._query('describe schema ' ~ spark_cdc._quote(table.schema)) if row.info_name == 'Location' -%}
        {%- set folder = row.info_value ~ '/' ~ table.identifier -%}
        {%- if spark_cdc._is_begun_delta_table(folder) and spark_cdc._is_begun_delta_table(folder) and not spark_cdc._is_there(table) -%}
            {%- do log(entity.name ~ ': drops ' ~ folder ~ ', in which a statement that broke off has left the log of a Delta table without a version', info=true) -%}
            {%- do spark_cdc._ensure_load_log(load_log) -%}
            {%- do spark_cdc._drop_folder(spark_cdc._own(load_log), ['entity', 'load_id'], folder) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}


{#- Whether a folder has Delta's log and nothing else, and the log neither a version nor a checkpoint. -#}
{%- macro _is_begun_delta_table(folder) -%}
    {%- if spark_cdc._lacks_path(folder ~ '/_delta_log') -%}{{ return(false) }}{%- endif -%}
    {{ return(spark_cdc._lacks_path(folder ~ '/_delta_log/*.{json,parquet}') and spark_cdc._lacks_path(folder ~ '/[^_]*')) }}
{%- endmacro -%}
