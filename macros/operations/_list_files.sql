{#- The files of a table, as a temporary view that the caller reads once: path, length, written_at, and load_id and operation as the path names
    them. Folders without a partition are found too; no file is opened. Arguments: location, name (of the view: nodes may share a session). -#}
{%- macro _list_files(location, name='spark_cdc_files') -%}
    {%- do spark_cdc._send(
        'create or replace temporary view ' ~ name ~ ' using binaryFile options (path ' ~ spark_cdc._literal(location)
        ~ ", recursiveFileLookup 'true')"
    ) -%}
    {{ return(
        "(select path, length, modificationTime as written_at, regexp_extract(path, '/load_id=([^/]+)/', 1) as load_id, "
        ~ "regexp_extract(path, '/operation=([^/]+)/', 1) as operation from " ~ name ~ ")"
    ) }}
{%- endmacro -%}
