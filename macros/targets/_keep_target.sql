{#- Brings a published table up to date: from the changes since its own last version, or where those can't be told, by a comparison with all rows.
    Whatever is repeated gives the same: see docs/publish.md. Arguments: target (of _target_of_query()), sql (query of all rows). Returns what became of it,
    in a word. -#}
{%- macro _keep_target(target, sql) -%}
    {%- set capture = target.capture -%}
    {%- do spark_cdc._check_target(target) -%}
    {%- set head = spark_cdc._read_manifest(capture.committed) -%}
    {%- do spark_cdc._check_head_columns(capture, head) -%}
    {%- set found = spark_cdc._found_target(target) -%}
    {%- set columns = local_md5(tojson([head.definition, head.get('layout') or {}], sort_keys=true)) -%}
    {%- set has = found.record or {} -%}
    {%- if [has.get('version'), has.get('commit'), has.get('columns')] == [head.sequence, head.get('commit'), columns] and not should_full_refresh() -%}
        {{ return('UNCHANGED') }}
    {%- endif -%}
    {%- set records = spark_cdc._load_records(capture.masked, head.loads) -%}
    {%- do spark_cdc._check_feed_records(target.entity, head, records) -%}
    {%- set record = {
        'mark': target.mark,
        'version': head.sequence,
        'commit': head.get('commit'),
        'load_id': spark_cdc._commits(head, records) | map(attribute='load_id') | list | last | default(none),
        'columns': columns,
    } -%}
    {%- set since = spark_cdc._target_since(target, head, found.record, columns) if found.exists else {'version': none} -%}
    {%- set changed = none -%}
    {%- if since.version is none and found.exists -%}
        {%- do log(target.entity.name ~ ': ' ~ target.relation ~ ' is compared with all rows: ' ~ since.why, info=true) -%}
    {%- elif found.exists -%}
        {%- set feed = spark_cdc._feed_sql(capture, target.changes, since.version, head.sequence) -%}
        {%- if not spark_cdc._query('select 1 as is_changed\nfrom (\n' ~ feed ~ '\n) as changes\nlimit 1') -%}{{ return('UNCHANGED') }}{%- endif -%}
        {%- set changed = spark_cdc._target_changes_sql(target, feed) -%}
    {%- endif -%}
    {%- if target.is_view -%}
        {%- do spark_cdc._write_target_view(target, found, record, sql) -%}
    {%- else -%}
        {%- do spark_cdc._write_target_table(target, found, record, sql, changed) -%}
    {%- endif -%}
    {{ return('OK') }}
{%- endmacro -%}


{#- The version whose changes are the next ones of a published table, or none with the reason why they can't be told. Argument: record (what the table
    says of itself, or none). -#}
{%- macro _target_since(target, head, record, columns) -%}
    {%- set no, made_anew = {'version': none}, 'the entity was made anew since' -%}
    {%- if should_full_refresh() -%}{{ return(dict(no, why='--full-refresh')) }}{%- endif -%}
    {%- if record is none -%}{{ return(dict(no, why='its metadata do not tell which version it has, or somebody else has written into it')) }}{%- endif -%}
    {%- if record.version > head.sequence -%}{{ return(dict(no, why=made_anew)) }}{%- endif -%}
    {%- if record.columns != columns -%}{{ return(dict(no, why='the entity has other columns than when it was written')) }}{%- endif -%}
    {%- set told = spark_cdc._manifests_since(target.capture, head, record.version) -%}
    {%- set oldest = told[0] -%}
    {%- if oldest.rewritten.version > record.version -%}
        {{ return(dict(no, why='what changed since version ' ~ record.version ~ ' can\'t be told any more (commit ' ~ oldest.rewritten.version ~ ' took loads away)')) }}
    {%- endif -%}
    {%- if told | map(attribute='definition') | unique | list | length > 1 -%}
        {{ return(dict(no, why='loads were replaced by some with other columns')) }}
    {%- endif -%}
    {%- set records = spark_cdc._load_records(target.capture.masked, oldest.loads) -%}
    {%- do spark_cdc._check_feed_records(target.entity, oldest, records) -%}
    {%- set before = spark_cdc._commits(oldest, records) | selectattr('version', 'le', record.version) | map(attribute='load_id') | list -%}
    {{ return({'version': record.version} if before | last | default(none) == record.load_id else dict(no, why=made_anew)) }}
{%- endmacro -%}
