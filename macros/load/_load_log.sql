{#- The relation of cdc_loads; none where the project has no such model. A model that refuses a load need not depend on
    it, so ref() won't do. -#}
{%- macro _load_log() -%}
    {%- set node = (graph.nodes | default({})).get('model.spark_cdc.cdc_loads') -%}
    {{ return(spark_cdc._relation_in(node.schema, node.alias) if node else none) }}
{%- endmacro -%}


{#- The cdc_loads that belongs to the <entity>_committed of a data test. With dbt's --defer, ref() may name that of another environment, while the
    entity is one of this. Arguments: committed (relation), name (of the entity), referred (what ref() says). -#}
{%- macro _load_log_beside(committed, name, referred) -%}
    {%- for node in (graph.nodes | default({})).values() if node.name == name ~ '_committed' and node.schema == committed.schema -%}
        {{ return(spark_cdc._whole(spark_cdc._load_log())) }}
    {%- endfor -%}
    {{ return(spark_cdc._whole(referred)) }}
{%- endmacro -%}


{#- Its columns and their types; the last three are its partitions. -#}
{%- macro _load_log_columns() -%}
    {{ return({
        'business_time': 'string', 'load_type': 'string', 'is_checkpoint': 'boolean',
        'parent_load_id': 'string', 'replaced_load_ids': 'string', 'input': 'string',
        'rows_in': 'bigint', 'rows_rejected': 'bigint', 'rows_inserted': 'bigint', 'rows_updated': 'bigint', 'rows_deleted': 'bigint',
        'rows_unchanged': 'bigint', 'rows_not_supplied': 'bigint', 'rows_prior': 'bigint', 'rows_current': 'bigint',
        'started_at': 'timestamp', 'committed_at': 'timestamp', 'duration_seconds': 'double',
        'invocation_id': 'string', 'dbt_version': 'string', 'spark_version': 'string', 'spark_cdc_version': 'string',
        'events_late': 'bigint', 'events_control': 'bigint', 'events_unexpected': 'bigint',
        'guard': 'string', 'message': 'string', 'definition_change': 'string',
        'input_files': 'bigint', 'input_bytes': 'bigint',
        'rules': 'array<struct<rule: string, action: string, judged: bigint, broken: bigint>>',
        'events_unfilled': 'bigint',
        'entity': 'string', 'load_id': 'string', 'status': 'string',
    }) }}
{%- endmacro -%}


{%- macro _create_load_log_sql(load_log) -%}
    {%- set columns = [] -%}
    {%- for name, data_type in spark_cdc._load_log_columns().items() -%}
        {%- do columns.append({'at_sql': name, 'data_type': data_type}) -%}
    {%- endfor -%}
    {{ return(spark_cdc._create_table_sql(load_log, columns, spark_cdc._load_log_format(), ['entity', 'load_id', 'status'])) }}
{%- endmacro -%}


{#- Its format: entities write it side by side, and writers of a table format would get into each other's way. -#}
{%- macro _load_log_format() -%}
    {%- set file_format = spark_cdc._var('spark_cdc_file_format') -%}
    {{ return('parquet' if file_format in spark_cdc._table_formats() else file_format) }}
{%- endmacro -%}


{#- Creates cdc_loads where it is not there, and adds columns that it lacks: dbt's look at the catalogue knows them. -#}
{%- macro _ensure_load_log(load_log) -%}
    {%- set existing = load_cached_relation(load_log) -%}
    {%- if existing is none -%}
        {%- do spark_cdc._send('create schema if not exists ' ~ spark_cdc._quote(load_log.schema)) -%}  {#- it may have one of its own -#}
        {%- do spark_cdc._send(spark_cdc._create_load_log_sql(load_log)) -%}
        {%- do adapter.cache_added(load_log.incorporate(type='table')) -%}  {#- for data tests of the same run -#}
    {%- elif spark_cdc._load_log_columns() | reject('in', modules.re.findall('[|]-- ([a-z_]+): ', existing.information or '')) | list -%}
        {%- do spark_cdc._complete_load_log(load_log) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Whether cdc_loads was made in this run: dbt's look at the catalogue has found nothing of it. -#}
{%- macro _is_new_load_log(load_log) -%}{{ return(not load_cached_relation(load_log).information) }}{%- endmacro -%}


{#- Adds columns that a later version of the project records too. -#}
{%- macro _complete_load_log(load_log) -%}
    {%- set found = adapter.get_columns_in_relation(spark_cdc._own(load_log)) | map(attribute='name') | list -%}
    {%- set new = [] -%}
    {%- for name, data_type in spark_cdc._load_log_columns().items() if name not in found -%}
        {%- do new.append(name ~ ' ' ~ data_type) -%}
    {%- endfor -%}
    {%- if new -%}
        {%- do spark_cdc._send('alter table ' ~ spark_cdc._own(load_log) ~ ' add columns (' ~ new | join(', ') ~ ')') -%}
        {%- if spark_cdc._own(load_log) != load_log -%}{%- do spark_cdc._show_branch_columns(load_log) -%}{%- endif -%}
    {%- endif -%}
{%- endmacro -%}
