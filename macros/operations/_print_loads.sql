{#- Prints what cdc_loads has of some runs, and of what is new since the last load of each entity, as a line of JSON behind a marker: for notices and metrics
    (docs/notify.md). One statement per schema, and one that reads these partitions of cdc_loads alone.
    Arguments: runs (dbt's invocation ids). Prints a dictionary: schema, server (namespace of its tables, as lineage tools name it), last (business
    time by entity, null where nothing is committed), loads (rows of cdc_loads, each as a text of JSON). -#}
{%- macro _print_loads(runs=[]) -%}
    {%- set schemas, last, wanted, attempts = {}, {}, [], [] -%}
    {%- for name, node, ledger in spark_cdc._entity_nodes() -%}{%- do schemas.update({name: graph.nodes[ledger].schema}) -%}{%- endfor -%}
    {%- set texts = spark_cdc._committed_texts(schemas.values()) -%}
    {%- for name, schema in schemas.items() -%}
        {%- set view = schema ~ '.' ~ name ~ '_committed' -%}
        {%- set loads = spark_cdc._parse_manifest(texts[view], view).loads if view in texts else [] -%}
        {%- set newer = " and load_id >= '" ~ loads[-1].split('-')[0] ~ "'" if loads else '' -%}
        {%- do wanted.append('(entity = ' ~ spark_cdc._literal(name) ~ newer ~ ')') -%}
        {%- do last.update({name: spark_cdc._load_time(loads[-1]).strftime('%Y-%m-%d %H:%M:%S') if loads else none}) -%}
    {%- endfor -%}
    {%- for run in runs -%}{%- do attempts.append(local_md5(run)[:8]) -%}{%- endfor -%}
    {%- if attempts -%}{%- do wanted.append('right(load_id, 8) in (' ~ spark_cdc._literals(attempts) ~ ')') -%}{%- endif -%}
    {%- set load_log = spark_cdc._load_log() -%}
    {%- set found = [] -%}
    {%- if load_log is not none and wanted and adapter.check_schema_exists(target.database, load_log.schema)
            and spark_cdc._is_there(load_log) -%}
        {%- set sql -%}
select to_json(struct(*)) as load
from {{ load_log }}
where
    {{ wanted | join('\n    or ') }}
        {%- endset -%}
        {%- for row in spark_cdc._query(sql) -%}{%- do found.append(row.load) -%}{%- endfor -%}
    {%- endif -%}
    {%- set server = 'spark://' ~ target.host ~ (':' ~ target.port if target.port else '') -%}
    {%- do print('spark_cdc loads: ' ~ tojson({'schema': target.schema, 'server': server, 'last': last, 'loads': found})) -%}
{%- endmacro -%}
