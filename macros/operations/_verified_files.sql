{#- Storage as files_match_manifest reads it, whatever is damaged there: all files by their names, also those of folders that are no partition;
    the same opened, those left out that can't be; and what the metastore has registered.
    Returns a dictionary: listed (see _list_files()), opened (name of a view: load_id, operation, note), partitions (texts, see
    _partitions_by_load()). -#}
{%- macro _verified_files(verified) -%}
    {%- set found = verified.catalog[verified.ledger.identifier] -%}
    {%- set partitions = spark_cdc._partitions_by_load(verified.ledger).items() | selectattr(0, 'in', verified.loads) | map(attribute=1) -%}
    {%- set opened = 'spark_cdc_opened_' ~ verified.entity.name -%}
    {%- set view_sql -%}
create or replace temporary view {{ opened }} (note string, business_date date, load_id string, operation string)
using {{ found.provider }}
options (path {{ spark_cdc._literal(found.location) }}, ignoreCorruptFiles 'true', ignoreMissingFiles 'true')
    {%- endset -%}
    {%- do spark_cdc._send(view_sql) -%}
    {{ return({
        'listed': spark_cdc._list_files(found.location, 'spark_cdc_files_' ~ verified.entity.name),
        'opened': opened,
        'partitions': partitions | sum(start=[]),
    }) }}
{%- endmacro -%}
