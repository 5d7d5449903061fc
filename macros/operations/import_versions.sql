{#- The versions of a Delta or Iceberg table that are still kept, each a full snapshot at the time
    when it was made: of one business time the last one. Arguments: ctx, history. Returns a
    dictionary: entity (as it is imported), history (with times, versions and note). -#}
{%- macro _read_versions(ctx, history) -%}
    {%- set name, table = ctx.entity.name, history.table -%}
    {%- set is_iceberg = spark_cdc._plan_refusal(spark_cdc._plan('select snapshot_id from ' ~ table ~ '.snapshots')) is none -%}
    {%- set words = none if is_iceberg else spark_cdc._plan_refusal(spark_cdc._plan('select 1 from ' ~ table ~ ' version as of 0')) -%}
    {%- do spark_cdc._stop('import_history', [table ~ ' keeps no versions: ' ~ words] if words and not words.startswith('[DELTA_') else [],
        'Accepted are tables of Delta Lake and Iceberg. Nothing was written.', ctx.entity) -%}
    {%- set read = (spark_cdc._iceberg_versions if is_iceberg else spark_cdc._delta_versions)(ctx.entity, table) -%}
    {%- set latest = {} -%}
    {%- for version in read.versions -%}{%- do latest.update({version.business_time: version}) -%}{%- endfor -%}
    {%- set versions, times, found = [], [], {} -%}
    {%- for version in latest.values() | sort(attribute='business_time') -%}
        {%- set columns = [] -%}
        {%- if versions and versions[-1].shape == version.shape -%}
            {%- do columns.extend(versions[-1].columns) -%}
        {%- else -%}
            {%- for column in spark_cdc._describe_query('select * from ' ~ table ~ ' version as of ' ~ version.version) -%}
                {%- do columns.append(column.col_name | lower) -%}
                {%- do found.update({column.col_name | lower: column}) -%}
            {%- endfor -%}
        {%- endif -%}
        {%- do times.append(spark_cdc._business_time(version.business_time)) -%}
        {%- do versions.append(dict(version, columns=columns)) -%}
    {%- endfor -%}
    {%- set ignored, kept = spark_cdc._names(history.ignore) | map('lower') | list, [] -%}
    {%- for name, column in found.items() if name not in ignored -%}{%- do kept.append(column) -%}{%- endfor -%}
    {%- set read_as = spark_cdc._imported_entity(ctx, table, 'full', kept) -%}
    {%- set unit = 'date' if ctx.entity.eff_type == 'date' else 'second' -%}
    {%- set note -%}
{{ spark_cdc._counted(read.versions | length, 'version') }} of {{ table }}{{ read.gone }}
{%- set others = read.versions | length - versions | length -%}
{%- if others %}; of {{ others }} a later one has the same {{ unit }}, and only the last of a {{ unit }} counts{% endif -%}
    {%- endset -%}
    {{ return({'entity': read_as.entity, 'history': dict(
        history, times=times, versions=versions, note=note, deleted_when=read_as.deleted_when,
        found=kept)}) }}
{%- endmacro -%}


{#- The versions of a Delta table, the oldest first. Those whose files VACUUM has taken are left
    out: all before the last one that dropped a file which is not there. Returns a dictionary:
    versions (a list of dictionaries: version, business_time (text), shape (the same for versions
    that have the same columns)), gone (what is said of those that are left out). -#}
{%- macro _delta_versions(entity, table) -%}
    {%- set values = [] -%}
    {%- for row in spark_cdc._delta_history(table) -%}
        {%- do values.append('(' ~ row.version ~ "L, timestamp'" ~ row.timestamp ~ "')") -%}
    {%- endfor -%}
    {%- set log = spark_cdc._delta_log_facts(entity, spark_cdc._delta_detail(table).location) -%}
    {%- set clock = dict(entity, source={'date_column': 'made_at', 'date_type': 'timestamp'}) -%}
    {%- set rows = spark_cdc._query('select version, ' ~ spark_cdc._date_column_text(clock) ~ ' as business_time\nfrom values\n    '
        ~ values | join(',\n    ') ~ '\n    as versions (version, made_at)\norder by version') -%}
    {%- set first = namespace(at=log.first, why='their files were vacuumed') -%}
    {#- nor can versions be read whose part of the log is gone, or that Delta takes for too old -#}
    {%- for row in rows -%}
        {%- set version = row.version | int -%}
        {%- if version == first.at or (loop.first and version > first.at) -%}
            {%- set words = spark_cdc._plan_refusal(spark_cdc._plan('select 1 from ' ~ table ~ ' version as of ' ~ version)) -%}
            {%- set first.at = version + 1 if words else version -%}
            {%- if words and 'RETENTION_DURATION]' in words -%}
                {%- set long = "= 'interval 3650 days'" -%}
                {%- set first.why = 'they are older than delta.deletedFileRetentionDuration (to read them, if nobody has vacuumed the table: alter table ' ~ table
                    ~ " set tblproperties ('delta.logRetentionDuration' " ~ long ~ ", 'delta.deletedFileRetentionDuration' " ~ long ~ '))' -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set versions = [] -%}
    {%- for row in rows if row.version | int >= first.at -%}
        {%- do versions.append({'version': row.version | int, 'business_time': row.business_time,
            'shape': (log.redefined | select('le', row.version | int) | list) if log.is_known else row.version}) -%}
    {%- endfor -%}
    {%- set left = rows | length - versions | length -%}
    {{ return({'versions': versions,
        'gone': '; ' ~ left ~ ' before version ' ~ first.at ~ ' can not be read any more, since ' ~ first.why if left else ''}) }}
{%- endmacro -%}


{#- What the log of a Delta table says beside its history: first (the first version of which all
    files are there), redefined (versions that changed the table's columns) and is_known (whether
    the log could be read: a catalog may keep the folder to itself). -#}
{%- macro _delta_log_facts(entity, location) -%}
    {%- set view, log = 'landed_' ~ entity.name ~ '_history', 'text.`' ~ location ~ '/_delta_log/*.json`' -%}
    {%- if spark_cdc._plan_refusal(spark_cdc._plan('select value from ' ~ log)) -%}{{ return({'first': 0, 'redefined': [], 'is_known': false}) }}{%- endif -%}
    {%- do spark_cdc._send(spark_cdc._reader_view_sql('temporary view ' ~ view, 'binaryFile', [
        'path ' ~ spark_cdc._literal(location), "recursiveFileLookup 'true'", "pathGlobFilter '*.parquet'"])) -%}
    {%- set sql -%}
with log as (
    select
        cast(regexp_extract({{ spark_cdc._of_file('name') }}, '([0-9]+)[.]json', 1) as bigint) as version,
        value like '{"metaData"%' as is_redefined,
        regexp_extract(get_json_object(value, '$.remove.path'), '[^/]+$', 0) as removed
    from {{ log }}
    where value like '{"metaData"%' or value like '{"remove"%'
)

select
    version,
    true as is_redefined
from log
where is_redefined

union all

select
    coalesce(max(version), 0L) as version,
    false as is_redefined
from log
left anti join (select regexp_extract(path, '[^/]+$', 0) as name from {{ view }}) as files
    on log.removed = files.name
where not is_redefined
    {%- endset -%}
    {%- set redefined, first = [], namespace(at=0) -%}
    {%- for row in spark_cdc._query(sql) -%}
        {%- if row.is_redefined -%}{%- do redefined.append(row.version | int) -%}{%- else -%}{%- set first.at = row.version | int -%}{%- endif -%}
    {%- endfor -%}
    {{ return({'first': first.at, 'redefined': redefined, 'is_known': true}) }}
{%- endmacro -%}


{#- The snapshots that an Iceberg table had and still keeps, in the order in which readers saw them.
    Returns a dictionary as of _delta_versions(). -#}
{%- macro _iceberg_versions(entity, table) -%}
    {%- set clock = dict(entity, source={'date_column': 'made_current_at', 'date_type': 'timestamp'}) -%}
    {%- set sql -%}
select
    history.snapshot_id as version,
    {{ spark_cdc._date_column_text(clock) }} as business_time,
    snapshots.snapshot_id is not null as is_kept
from {{ table }}.history as history
left join {{ table }}.snapshots as snapshots
    on history.snapshot_id = snapshots.snapshot_id
order by made_current_at
    {%- endset -%}
    {%- set versions, left = [], [] -%}
    {%- for row in spark_cdc._query(sql) -%}
        {%- do (versions if row.is_kept else left).append({'version': row.version, 'business_time': row.business_time, 'shape': row.version}) -%}
    {%- endfor -%}
    {{ return({'versions': versions, 'gone': '; ' ~ left | length ~ ' more have expired' if left else ''}) }}
{%- endmacro -%}


{#- Lands some versions, as days of a number as _landed_dates_sql() has them. Returns the staged
    rows as SQL. -#}
{%- macro _incoming_versions(run, times) -%}
    {%- set entity, history = run.entity, run.history -%}
    {%- do spark_cdc._send('create or replace temporary view ' ~ spark_cdc._files_view(entity) ~ ' as\n' ~ spark_cdc._kept_versions_sql(entity, history, times)) -%}
    {%- do spark_cdc._land_history(entity, history, ['cdc__day']) -%}
    {%- set names = spark_cdc._landed_names(entity) -%}
    {%- set types = entity.columns | map(attribute='data_type') | join -%}
    {%- set is_grouped = 'map' not in types and 'variant' not in types -%}
    {#- a task reads rows of one version, of which no two are alike: shuffled by key before they are
        grouped, they are not grouped in vain first -#}
    {%- set landed -%}
(
    select
        {{ names | join(',\n        ') }},
        {{ 'bit_or(cdc__day)' if is_grouped else 'cdc__day' }} as cdc__days
    {%- if is_grouped %}
    from (
        select *
        from {{ spark_cdc._landed_view(entity) }}
        distribute by {{ spark_cdc._landed_names(dict(entity, columns=entity.key_columns)) | join(', ') }}
    ) as distributed
    group by {{ names | join(', ') }}
    {%- else %}
    from {{ spark_cdc._landed_view(entity) }}
    {%- endif %}
)
    {%- endset -%}
    {%- set staged = spark_cdc._stage_sql(dict(entity, deleted_when=history.deleted_when), landed, ['cdc__days']) -%}
    {{ return('(\n' ~ (('select *\nfrom (\n' ~ staged ~ '\n) as flagged\nwhere not cdc__deleted') if history.deleted_when else staged) ~ '\n)') }}
{%- endmacro -%}


{#- The rows of the versions of some times, each with the bit of its version. -#}
{%- macro _kept_versions_sql(entity, history, times) -%}
{%- for time in times -%}
{%- set version = history.versions[history.times.index(time)] -%}
select
    {%- for column in history.found %}
    {%- set name = spark_cdc._quote(column.col_name) %}
    {{ name if column.col_name | lower in version.columns else 'cast(null as ' ~ column.data_type ~ ') as ' ~ name }},
    {%- endfor %}
    {{ 2 ** loop.index }}L as cdc__day
from {{ history.table }} version as of {{ version.version }}
{{- '\n\nunion all\n\n' if not loop.last }}
{%- endfor -%}
{%- endmacro -%}


{#- How many rows each version has, of those that were landed last: business_time, row_count. -#}
{%- macro _version_counts_sql(run, texts) -%}
{%- set entity, history = run.entity, run.history -%}
{%- set staged = '(\n' ~ spark_cdc._stage_sql(dict(entity, deleted_when=history.deleted_when), spark_cdc._landed_view(entity), ['cdc__day']) ~ '\n) as staged' -%}
select
    days.business_time,
    counted.row_count
from (
    select
        cdc__day,
        count(*) as row_count
    from {{ staged if history.deleted_when else spark_cdc._landed_view(entity) }}
    {{- '\n    where not (cdc__deleted and cdc__note is null)' if history.deleted_when }}
    group by cdc__day
) as counted
inner join values
    {%- for text in texts %}
    ({{ 2 ** loop.index }}L, '{{ text }}'){{ ',' if not loop.last }}
    {%- endfor %}
    as days (cdc__day, business_time)
    on counted.cdc__day = days.cdc__day
{%- endmacro -%}
