{#- Writes a published table of a format that knows no MERGE: a new table, and then the view of the model's name is altered to it, which is the commit. The
    version stands in the view's text. The table before stays for queries in flight until the next one is written, but with --full-refresh: what it holds may
    have to go (forget). Arguments as of _write_target_table(). -#}
{%- macro _write_target_view(target, found, record, sql) -%}
    {%- set table = spark_cdc._sibling('%s_v%06d_%s' % (target.relation.identifier, record.version, spark_cdc._attempt())) -%}
    {%- set names = target.columns | map(attribute='sql') | list -%}
    {%- set created -%}
create table if not exists {{ table }} (
    {%- for column in target.columns %}
    {{ column.sql }} {{ column.data_type }}{{ ',' if not loop.last }}
    {%- endfor %}
)
using {{ target.format }}
    {%- endset -%}
    {%- set text -%}
select
    /* spark_cdc published: {{ spark_cdc._comment_json(record) }} */
    {{ names | join(',\n    ') }}
from {{ table }}
    {%- endset -%}
    {#- known before it is written, so that what a kill leaves of it can be dropped -#}
    {%- do spark_cdc._send(created) -%}
    {%- do spark_cdc._send('insert overwrite table ' ~ table ~ '\n' ~ sql) -%}
    {%- set now = spark_cdc._found_target(target) -%}
    {%- if now.record != found.record -%}
        {%- do spark_cdc._send('drop table if exists ' ~ table ~ ' purge') -%}
        {%- do spark_cdc._refuse_target(target, 'another run has published version ' ~ (now.record or {}).get('version') ~ ' meanwhile. Run the same command again') -%}
    {%- endif -%}
    {%- do spark_cdc._send(spark_cdc._replace_view_sql(target.relation, text, found.exists)) -%}
    {%- do spark_cdc._drop_target_tables(target, table, record.version, (found.record or {}).get('version', 0)) -%}
{%- endmacro -%}


{#- Drops the tables behind a published view but the one that it shows (table) and those of its version and of the version that it had: older ones, of an entity
    that was made anew later ones, with --full-refresh all. What a killed run has left goes with them, and what another run is about to show, which fails then.
    Without purge Iceberg's catalog, where it is the session's, would leave the files of any table. -#}
{%- macro _drop_target_tables(target, table, version, version_before) -%}
    {%- set name = target.relation.identifier ~ '_v' -%}
    {%- for row in spark_cdc._query('show tables in ' ~ target.relation.without_identifier() ~ ' like ' ~ spark_cdc._literal(name ~ '*')) -%}
        {%- set found = modules.re.fullmatch(name ~ '([0-9]{6,})_[0-9a-f]{8}', row.tableName) -%}
        {%- if found and row.tableName != table.identifier -%}
            {%- set other = found.group(1) | int -%}
            {%- if should_full_refresh() or (other not in [version, version_before] and not version_before < other < version) -%}
                {%- do spark_cdc._send('drop table if exists ' ~ spark_cdc._sibling(row.tableName) ~ ' purge') -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}
