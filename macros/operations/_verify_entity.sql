{#- Returns a dictionary: findings (list of texts), checked (text: what was looked at). -#}
{%- macro _verify_entity(operated) -%}
    {%- set entity = operated.entity -%}
    {%- set name = entity.name -%}
    {%- set findings = [] -%}
    {%- set head = spark_cdc._verify_manifest(operated, findings) -%}
    {%- if head is none -%}
        {{ return({'findings': findings, 'checked': name ~ ': nothing was loaded yet'}) }}
    {%- endif -%}
    {%- set loads = head.loads -%}
    {%- do operated.update({'layout': head.get('layout') or {}, 'rows': spark_cdc._across_changes(entity, operated.ledger, head.get('layout') or {})}) -%}
    {%- do run_query('refresh table ' ~ operated.ledger) -%}
    {%- set files = spark_cdc._verify_files(operated, loads, findings) -%}
    {%- set records = spark_cdc._verify_records(operated, loads, findings) -%}
    {%- do spark_cdc._verify_counts(operated, head, files, records, findings) -%}
    {%- set row_count = spark_cdc._verify_rows(operated, loads, files, records, findings) -%}
    {%- do spark_cdc._verify_archive(operated, loads, records, findings) -%}
    {%- set views = spark_cdc._verify_views(operated, head, findings) -%}
    {{ return({
        'findings': findings,
        'checked': name ~ ': ' ~ spark_cdc._counted(loads | length, 'load') ~ ', ' ~ spark_cdc._counted(row_count, 'row') ~ ', views '
            ~ views | join(', ') ~ ': files, records, parents, counts, keys, hashes, operations, checkpoints and views agree',
    }) }}
{%- endmacro -%}


{#- One finding as text. -#}
{%- macro _finding(findings, entity, what, load_id, examples, repair) -%}
    {%- set lines = ['- ' ~ entity.name ~ ': ' ~ what] -%}
    {%- if load_id -%}
        {%- do lines.append('  began in: load ' ~ load_id ~ ' (' ~ spark_cdc._time_text(entity, spark_cdc._load_time(load_id)) ~ ')') -%}
    {%- endif -%}
    {%- if examples -%}
        {%- do lines.append('  examples: ' ~ examples) -%}
    {%- endif -%}
    {%- do lines.append('  repair: ' ~ repair) -%}
    {%- do findings.append(lines | join('\n')) -%}
{%- endmacro -%}


{#- The way back where the ledger's own rows are wrong. -#}
{%- macro _replay_repair(entity, load_id) -%}
    {%- set date = spark_cdc._time_text(entity, spark_cdc._load_time(load_id)) -%}
    {{ return("spark-cdc replay --from " ~ ("'" ~ date ~ "'" if ' ' in date else date) ~ ' --select ' ~ entity.name) }}
{%- endmacro -%}


{%- macro _one_line(text) -%}{{ return(text.split() | join(' ')) }}{%- endmacro -%}


{#- The manifest, if there is one that can be read; what is wrong with it is added to the findings. -#}
{%- macro _verify_manifest(operated, findings) -%}
    {%- set entity = operated.entity -%}
    {%- set name = entity.name -%}
    {%- set committed = operated.catalog.get(operated.committed.identifier) -%}
    {%- set claims = [] -%}
    {%- for identifier in operated.catalog if modules.re.fullmatch(name ~ '_commit_[0-9]{6,}', identifier) -%}{%- do claims.append(identifier) -%}{%- endfor -%}
    {%- set again = 'dbt run --select ' ~ name ~ '_committed' -%}
    {%- if operated.ledger.identifier not in operated.catalog -%}
        {%- if committed -%}
            {%- do spark_cdc._finding(findings, entity, 'the table ' ~ operated.ledger ~ ' is missing, which ' ~ operated.committed ~ ' reads', none, none,
                'restore the table from a backup, or drop the view ' ~ operated.committed ~ ' and load anew') -%}
        {%- endif -%}
        {{ return(none) }}
    {%- elif not committed -%}
        {%- if claims or spark_cdc._query('show partitions ' ~ operated.ledger) -%}
            {%- do spark_cdc._finding(findings, entity, 'the view ' ~ operated.committed ~ ' is missing, so that no load counts', none, none,
                again ~ (' (which brings back the last commit)' if claims else ' after a load of the first date')) -%}
        {%- endif -%}
        {{ return(none) }}
    {%- elif 'spark_cdc manifest:' not in committed.text -%}
        {%- do spark_cdc._finding(findings, entity, 'the view ' ~ operated.committed ~ ' is no manifest: somebody replaced it', none, none,
            'drop view ' ~ operated.committed ~ '; then ' ~ again ~ (' (which brings back the last commit)' if claims else '')) -%}
        {{ return(none) }}
    {%- endif -%}

    {%- set manifest = spark_cdc._parse_manifest(committed.text, operated.committed) -%}
    {%- set repair = again -%}
    {%- set what = none -%}
    {%- set claim = namespace(what=none) -%}
    {%- for identifier in claims if 'spark_cdc manifest:' in operated.catalog[identifier].text -%}
        {%- set claimed = spark_cdc._parse_manifest(operated.catalog[identifier].text, identifier) -%}
        {%- if claimed.sequence == manifest.sequence and claimed.loads != manifest.loads -%}
            {%- set claim.what = 'names other loads than its last commit: ' ~ manifest.loads | reject('in', claimed.loads) | join(', ')
                ~ ' too many, ' ~ claimed.loads | reject('in', manifest.loads) | join(', ') ~ ' missing' -%}
        {%- elif claimed.sequence > manifest.sequence -%}
            {%- do log(name ~ ': commit ' ~ claimed.sequence ~ ' is claimed but not shown yet; the next run of ' ~ name ~ ' finishes it', info=true) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set expected = spark_cdc._committed_sql(entity, operated.ledger, manifest) -%}
    {%- if claim.what -%}
        {%- do spark_cdc._finding(findings, entity, 'the view ' ~ operated.committed ~ ' ' ~ claim.what, none, none,
            'drop view ' ~ operated.committed ~ '; then ' ~ again) -%}
    {%- elif spark_cdc._one_line(expected) != spark_cdc._one_line(committed.text) -%}
        {%- do spark_cdc._finding(findings, entity, 'the text of the view ' ~ operated.committed ~ ' is not what its manifest makes: somebody altered it, '
            ~ 'or another version of spark_cdc wrote it', none, none, again) -%}
    {%- endif -%}
    {%- if manifest.loads != manifest.loads | sort -%}
        {%- do spark_cdc._finding(findings, entity, 'the manifest names its loads in another order than that of their dates', none, manifest.loads | join(', '), again) -%}
    {%- endif -%}
    {%- if not manifest.loads -%}{{ return(none) }}{%- endif -%}
    {{ return(manifest) }}
{%- endmacro -%}


{#- Rows per load and operation as the files' footers tell, and which files and partitions are not as they should be.
    Returns a dictionary: load id to operation to rows. -#}
{%- macro _verify_files(operated, loads, findings) -%}
    {%- set entity = operated.entity -%}
    {%- set counts = {} -%}
    {%- set registered = [] -%}
    {%- for load_id, partitions in spark_cdc._partitions_by_load(operated.ledger).items() if load_id in loads -%}
        {%- for partition in partitions -%}{%- do registered.append(partition) -%}{%- endfor -%}
    {%- endfor -%}
    {%- set with_files = [] -%}
    {%- for row in spark_cdc._query(spark_cdc._files_sql(operated, loads)) -%}
        {%- do with_files.append(row.partition_path) -%}
        {%- set load_id = modules.re.search('load_id=([^/]+)', row.partition_path).group(1) -%}
        {%- set operation = row.partition_path.split('operation=')[1] -%}
        {%- set of_load = counts.setdefault(load_id, {}) -%}
        {%- do of_load.update({operation: of_load.get(operation, 0) + (row.row_count or 0) | int}) -%}
        {%- if row.partition_path not in registered -%}
            {%- do spark_cdc._finding(findings, entity, 'the partition ' ~ row.partition_path ~ ' is not registered, though its files are there: its rows are missing everywhere',
                load_id, row.example, 'alter table ' ~ operated.ledger ~ ' recover partitions') -%}
        {%- elif row.unread | int -%}
            {%- do spark_cdc._finding(findings, entity, spark_cdc._counted(row.unread | int, 'file') ~ ' of the partition ' ~ row.partition_path ~ " can't be read",
                load_id, row.example, 'restore it from a backup, or ' ~ spark_cdc._replay_repair(entity, load_id)) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for partition in registered if partition not in with_files -%}
        {%- set load_id = modules.re.search('load_id=([^/]+)', partition).group(1) -%}
        {%- do spark_cdc._finding(findings, entity, 'the partition ' ~ partition ~ ' has no files any more', load_id, none,
            'restore them from a backup, or ' ~ spark_cdc._replay_repair(entity, load_id)) -%}
    {%- endfor -%}
    {{ return(counts) }}
{%- endmacro -%}


{%- macro _files_sql(operated, loads) -%}
with listed as (
    select regexp_extract(path, '(business_date=[^/]+/.*)$', 1) as file
    from {{ spark_cdc._list_files(operated.catalog[operated.ledger.identifier].location) }}
    where {{ spark_cdc._in_loads(loads) }}
),

opened as (
    select
        regexp_extract(_metadata.file_path, '(business_date=[^/]+/.*)$', 1) as file,
        count(*) as row_count
    from {{ operated.ledger }}
    where {{ spark_cdc._in_loads(loads) }}
    group by regexp_extract(_metadata.file_path, '(business_date=[^/]+/.*)$', 1)
)

select
    regexp_extract(listed.file, '^(.*)/[^/]+$', 1) as partition_path,
    sum(opened.row_count) as row_count,
    count_if(opened.file is null) as unread,
    min(if(opened.file is null, listed.file, null)) as example
from listed
left join opened
    on listed.file = opened.file
group by regexp_extract(listed.file, '^(.*)/[^/]+$', 1)
order by partition_path
{%- endmacro -%}


{#- The records of the loads, one each, and whether each load builds on the one before it. Returns load id to record. -#}
{%- macro _verify_records(operated, loads, findings) -%}
    {%- set entity = operated.entity -%}
    {%- set records = {} -%}
    {%- set seen = {} -%}
    {%- for row in spark_cdc._query(spark_cdc._records_sql(operated.ledger, loads)) -%}
        {%- do seen.update({row.load_id: seen.get(row.load_id, 0) + 1}) -%}
        {%- do records.update({row.load_id: fromjson(row.note)}) -%}
    {%- endfor -%}
    {%- set before = namespace(load=none) -%}
    {%- for load_id in loads -%}
        {%- set record = records.get(load_id) -%}
        {%- if seen.get(load_id, 0) != 1 -%}
            {%- do spark_cdc._finding(findings, entity, 'the load has ' ~ seen.get(load_id, 0) ~ ' records (rows with operation L) instead of one',
                load_id, none, spark_cdc._replay_repair(entity, load_id)) -%}
        {%- elif record.load_id != load_id -%}
            {%- do spark_cdc._finding(findings, entity, "the load's record is that of " ~ record.load_id, load_id, none, spark_cdc._replay_repair(entity, load_id)) -%}
        {%- elif record.parent not in [before.load, records.get(before.load, {}).get('stands_for')] -%}
            {%- do spark_cdc._finding(findings, entity, 'the load builds on ' ~ (record.parent or 'nothing') ~ ', but the load before it is ' ~ (before.load or 'none'),
                load_id, none, spark_cdc._replay_repair(entity, load_id)) -%}
        {%- endif -%}
        {%- set before.load = load_id -%}
    {%- endfor -%}
    {{ return(records) }}
{%- endmacro -%}


{#- The figures of each load, in the ledger and in cdc_loads. -#}
{%- macro _verify_counts(operated, manifest, files, records, findings) -%}
    {%- set entity = operated.entity -%}
    {%- set logged = {} -%}
    {%- set replaced = [] -%}
    {%- set log_rows = spark_cdc._query('select * from ' ~ operated.load_log ~ ' where entity = ' ~ spark_cdc._literal(entity.name))
            if load_relation(operated.load_log) else [] -%}
    {%- for row in log_rows -%}
        {%- do logged.setdefault(row.load_id, []).append(row) -%}
        {%- do replaced.extend((row.replaced_load_ids or '').split(', ')) -%}
    {%- endfor -%}
    {%- for record in records.values() -%}{%- do replaced.extend(record.replaced) -%}{%- endfor -%}

    {%- set before = namespace(rows=0) -%}
    {%- for load_id in manifest.loads -%}
        {%- set written = files.get(load_id, {}) -%}
        {%- set figures = spark_cdc._figures_of_load(load_id, written, before.rows) -%}
        {%- set carried = 'N' if spark_cdc._load_kind(load_id).is_full else 'X' -%}
        {%- if figures.counts[carried] < 0
                or (spark_cdc._load_kind(load_id).is_checkpoint and figures.counts[carried] != written.get(carried, 0)) -%}
            {%- do spark_cdc._finding(findings, entity, 'the counts do not reconcile: ' ~ before.rows ~ ' rows before, I ' ~ figures.counts.I ~ ', U ' ~ figures.counts.U
                ~ ', D ' ~ figures.counts.D ~ ' leave ' ~ figures.counts[carried] ~ ' rows ' ~ carried ~ '; written are ' ~ written.get(carried, 0),
                load_id, none, spark_cdc._replay_repair(entity, load_id)) -%}
        {%- endif -%}
        {%- set rows = logged.get(load_id, []) -%}
        {%- if rows | length != 1 -%}
            {%- do spark_cdc._finding(findings, entity, 'cdc_loads has ' ~ (rows | length) ~ ' rows of the load instead of one', load_id, none,
                spark_cdc._log_repair(operated, load_id, rows)) -%}
        {%- else -%}
            {%- set differences = [] -%}
            {%- for column, value in [
                ('rows_inserted', figures.counts.I), ('rows_updated', figures.counts.U), ('rows_deleted', figures.counts.D),
                ('rows_unchanged', figures.counts.N), ('rows_not_supplied', figures.counts.X), ('rows_rejected', figures.counts.R),
                ('rows_prior', figures.rows_prior), ('rows_current', figures.rows_current),
                ('parent_load_id', records.get(load_id, {}).get('parent')),
            ] if (rows[0][column] | string) != (value | string) -%}
                {%- do differences.append(column ~ ' is ' ~ rows[0][column] ~ ', in the ledger ' ~ value) -%}
            {%- endfor -%}
            {%- if differences -%}
                {%- do spark_cdc._finding(findings, entity, 'cdc_loads and the ledger have different figures: ' ~ differences | join('; '), load_id, none,
                    'if the ledger is right (no other finding on it): ' ~ spark_cdc._log_repair(operated, load_id, rows) ~ '; else ' ~ spark_cdc._replay_repair(entity, load_id)) -%}
            {%- endif -%}
        {%- endif -%}
        {%- set before.rows = figures.rows_current -%}
    {%- endfor -%}
    {%- if manifest.rows != before.rows -%}
        {%- do spark_cdc._finding(findings, entity, 'the manifest says that ' ~ manifest.rows ~ ' rows exist, the counts of the loads give ' ~ before.rows,
            manifest.loads[-1], none, spark_cdc._replay_repair(entity, manifest.loads[-1])) -%}
    {%- endif -%}
    {%- for load_id, rows in logged.items()
            if load_id not in manifest.loads and load_id not in replaced and rows[0].get('status') in [none, 'committed'] -%}
        {%- do spark_cdc._finding(findings, entity, 'cdc_loads has a row of a load that does not count and that none replaced', load_id, none,
            'alter table ' ~ operated.load_log ~ ' drop partition (entity = ' ~ spark_cdc._literal(entity.name) ~ ', load_id = ' ~ spark_cdc._literal(load_id) ~ ')') -%}
    {%- endfor -%}
{%- endmacro -%}


{#- cdc_loads can be made anew from the ledger. -#}
{%- macro _log_repair(operated, load_id, rows) -%}
    {%- set drop = 'alter table ' ~ operated.load_log ~ ' drop partition (entity = ' ~ spark_cdc._literal(operated.entity.name) ~ ', load_id = '
            ~ spark_cdc._literal(load_id) ~ '); then ' if rows else '' -%}
    {{ return(drop ~ 'dbt run --select ' ~ operated.entity.name ~ '_committed') }}
{%- endmacro -%}


{#- What each row must be, given the row of the same key before it: one pass over the ledger. Returns the number of rows. -#}
{%- macro _verify_rows(operated, loads, files, records, findings) -%}
    {%- set entity = operated.entity -%}
    {%- set texts = spark_cdc._row_problems() -%}
    {%- set read = {} -%}
    {%- set problems = [] -%}
    {%- set total = namespace(rows=0) -%}
    {%- for row in spark_cdc._query(spark_cdc._rows_sql(operated, loads, records)) -%}
        {%- do read.setdefault(row.load_id, {}).update({row.operation: read.get(row.load_id, {}).get(row.operation, 0) + row.own_rows | int}) -%}
        {%- set total.rows = total.rows + row.own_rows | int -%}
        {%- if row.problem -%}{%- do problems.append(row) -%}{%- endif -%}
    {%- endfor -%}
    {%- for load_id in loads -%}
        {%- for operation, count in files.get(load_id, {}).items()
                if operation in spark_cdc._operations('known') and count != read.get(load_id, {}).get(operation, 0) -%}
            {%- do spark_cdc._finding(findings, entity, 'of ' ~ count ~ ' rows ' ~ operation ~ ' ' ~ read.get(load_id, {}).get(operation, 0)
                ~ " can be read: a file's content is damaged", load_id, none,
                'restore it from a backup, or ' ~ spark_cdc._replay_repair(entity, load_id)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if problems -%}
        {%- set keys = spark_cdc._keys_of_hashes(operated, loads, problems) -%}
        {%- set merged = {} -%}
        {%- for row in problems -%}
            {%- set id = row.problem ~ ' ' ~ row.began_in -%}
            {%- set found = merged.setdefault(id, {'problem': row.problem, 'load_id': row.began_in, 'rows': 0, 'examples': []}) -%}
            {%- do found.update({'rows': found['rows'] + row.row_count | int}) -%}
            {%- for key_hash in [row.first_key, row.last_key] if key_hash and keys.get(key_hash, key_hash) not in found.examples and found.examples | length < 3 -%}
                {%- do found.examples.append(keys.get(key_hash, key_hash)) -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- for found in merged.values() -%}
            {%- do spark_cdc._finding(findings, entity, spark_cdc._counted(found['rows'], 'row') ~ ': ' ~ texts[found.problem], found.load_id,
                found.examples | join('; '), spark_cdc._replay_repair(entity, found.load_id)) -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(total.rows) }}
{%- endmacro -%}


{#- What can be wrong with a row, in words. -#}
{%- macro _row_problems() -%}
    {{ return({
        'key_hash': 'key_hash is not the hash of the key columns',
        'nonkey_hash': 'nonkey_hash is not the hash of the stored values: values were changed in the ledger',
        'ignored_hash': 'ignored_hash is not the hash of the stored values: values were changed in the ledger',
        'twice': 'the key comes more than once in the load',
        'I_alive': 'I (inserted) for a key that was there already',
        'not_alive': 'U, D, N or X for a key that was not there',
        'T_alive': 'T (tombstone) for a key that was there',
        'U_same': 'U (updated) though nothing that is compared differs from the row before',
        'other_values': 'D, N or X with other values than the row before',
        'start': 'eff_start_date is not the business date of the change',
        'other_start': 'N or X with another eff_start_date than the row before',
        'not_carried': 'the key was there before the checkpoint, which lacks it',
    }) }}
{%- endmacro -%}


{#- Rows are followed through the loads key by key. Hashes are compared only where both were computed of the same
    definition (columns, types, roles), and recomputed only where it is today's. -#}
{%- macro _rows_sql(operated, loads, records) -%}
{%- set entity = operated.entity -%}
{%- set now = spark_cdc._definition(entity) -%}
{%- set compared = {'key_hash': entity.key_columns, 'nonkey_hash': entity.compared} -%}
{%- if entity.ignored -%}{%- do compared.update({'ignored_hash': entity.ignored}) -%}{%- endif -%}
{%- set checkpoint = namespace(next=none) -%}
{%- set lines = [] -%}
{%- for load_id in loads | reverse -%}
    {%- set definition = records.get(load_id, {}).get('definition') -%}
    {%- do lines.append('struct(' ~ spark_cdc._literal(load_id) ~ ' as load_id, ' ~ spark_cdc._load_kind(load_id).is_history | string | lower
        ~ ' as is_history, ' ~ (definition == now) | string | lower ~ " as is_of_today, '" ~ local_md5(tojson(definition, sort_keys=true))
        ~ "' as definition, " ~ (spark_cdc._literal(checkpoint.next) if checkpoint.next else 'cast(null as string)') ~ ' as next_checkpoint)') -%}
    {%- if spark_cdc._load_kind(load_id).is_checkpoint -%}{%- set checkpoint.next = load_id -%}{%- endif -%}
{%- endfor -%}
with loads as (
    select inline(array(
        {{ lines | reverse | join(',\n        ') }}
    ))
),

stored as (
    select /*+ broadcast(loads) */
        ledger.load_id,
        ledger.operation,
        ledger.key_hash,
        ledger.nonkey_hash,
        ledger.eff_start_date,
        ledger.business_date,
        loads.is_history,
        loads.definition,
        loads.next_checkpoint,
        {%- for name, columns in compared.items() if columns or name != 'key_hash' %}
        loads.is_of_today and not ledger.{{ name }} <=> {{ spark_cdc._hash(columns) | indent(8) }} as {{ name }}_differs,
        {%- endfor %}
        ledger.operation not in ('D', 'T') as is_alive
    from {{ operated.rows | string | indent(4) }} as ledger
    inner join loads
        on ledger.load_id = loads.load_id
    where
        ledger.{{ spark_cdc._in_loads(loads) }}
        and ledger.operation in {{ spark_cdc._operations('known') }}
),

followed as (
    select
        *,
        coalesce(lag(is_alive) over of_key, false) as was_alive,
        lag(load_id) over of_key as prior_load_id,
        lag(nonkey_hash) over of_key as prior_nonkey_hash,
        lag(eff_start_date) over of_key as prior_start_date,
        lag(definition) over of_key as prior_definition,
        lead(load_id) over of_key as next_load_id
    from stored
    window of_key as (partition by key_hash order by load_id, eff_start_date, operation)
),

judged as (
    select
        *,
        case
            {%- for name, columns in compared.items() if columns or name != 'key_hash' %}
            when {{ name }}_differs then '{{ name }}'
            {%- endfor %}
            when load_id = prior_load_id and (not is_history or eff_start_date = prior_start_date) then 'twice'
            when operation = 'I' and was_alive then 'I_alive'
            when operation in ('U', 'D', 'N', 'X') and not was_alive then 'not_alive'
            when operation = 'T' and was_alive then 'T_alive'
            when operation = 'U' and definition = prior_definition and nonkey_hash = prior_nonkey_hash then 'U_same'
            when operation in ('D', 'N', 'X') and definition = prior_definition and nonkey_hash <> prior_nonkey_hash then 'other_values'
            when operation in ('I', 'U', 'D') and cast(eff_start_date as date) <> business_date then 'start'
            when operation in ('N', 'X') and eff_start_date <> prior_start_date then 'other_start'
            when is_alive and (next_load_id > next_checkpoint or (next_load_id is null and next_checkpoint is not null)) then 'not_carried'
        end as problem
    from followed
)

select
    load_id,
    operation,
    problem,
    if(problem = 'not_carried', next_checkpoint, load_id) as began_in,
    count(*) as row_count,
    count(*) as own_rows,
    min(hex(key_hash)) as first_key,
    max(hex(key_hash)) as last_key
from judged
group by load_id, operation, problem, if(problem = 'not_carried', next_checkpoint, load_id)
order by began_in, problem
{%- endmacro -%}


{#- The key columns of some hashes, for messages. -#}
{%- macro _keys_of_hashes(operated, loads, problems) -%}
    {%- set keys = {} -%}
    {%- set columns = operated.entity.key_columns -%}
    {%- if not columns -%}{{ return(keys) }}{%- endif -%}
    {%- set hashes = [] -%}
    {%- for row in problems[:50] -%}{%- do hashes.extend([row.first_key, row.last_key]) -%}{%- endfor -%}
    {%- for row in spark_cdc._query(
        'select distinct hex(key_hash) as hash_of_key, ' ~ columns | map(attribute='sql') | join(', ') ~ ' from ' ~ spark_cdc._from(operated.rows) ~ ' where '
        ~ spark_cdc._in_loads(loads) ~ " and operation in " ~ spark_cdc._operations('known') ~ " and hex(key_hash) in ('" ~ hashes | select | unique | join("', '") ~ "')"
    ) -%}
        {%- set values = [] -%}
        {%- for column in columns -%}{%- do values.append(column.name ~ ' = ' ~ row[column.name]) -%}{%- endfor -%}
        {%- do keys.update({row.hash_of_key: values | join(', ')}) -%}
    {%- endfor -%}
    {{ return(keys) }}
{%- endmacro -%}


{#- The archive has the events of each load. -#}
{%- macro _verify_archive(operated, loads, records, findings) -%}
    {%- set entity = operated.entity -%}
    {%- if not entity.events or not entity.events.archive -%}{{ return('') }}{%- endif -%}
    {%- set owners = {} -%}
    {%- for load_id in loads -%}
        {%- for archived in (records.get(load_id, {}).get('squashed') or ([] if spark_cdc._load_kind(load_id).is_squashed else [load_id])) -%}
            {%- do owners.update({archived: load_id}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set counts = {} -%}
    {%- if operated.events.identifier in operated.catalog -%}
        {%- do run_query('refresh table ' ~ operated.events) -%}
        {%- for row in spark_cdc._query('select load_id, count(*) as row_count from ' ~ operated.events ~ ' where ' ~ spark_cdc._in_loads(owners | list) ~ ' group by load_id') -%}
            {%- do counts.update({owners[row.load_id]: counts.get(owners[row.load_id], 0) + row.row_count | int}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for load_id in loads if records.get(load_id, {}).get('events') and counts.get(load_id, 0) != records[load_id].events.event_count -%}
        {%- do spark_cdc._finding(findings, entity, operated.events ~ ' has ' ~ counts.get(load_id, 0) ~ ' events of the load instead of '
            ~ records[load_id].events.event_count, load_id, none, 'restore the partition from a backup, or ' ~ spark_cdc._replay_repair(entity, load_id)) -%}
    {%- endfor -%}
{%- endmacro -%}


{#- The views: their texts, and where these are as they should be, their rows. Returns the names of what was compared. -#}
{%- macro _verify_views(operated, manifest, findings) -%}
    {%- set entity = operated.entity -%}
    {%- set compared = [] -%}
    {%- set checked = [] -%}
    {%- for kind in ['current', 'history', 'versions', 'event_versions'] -%}
        {%- set node = spark_cdc._models_of(operated.ledger_node, entity.name).get(entity.name ~ '_' ~ kind) -%}
        {#- a model that adds something of its own is not judged -#}
        {%- if node and modules.re.fullmatch('[{][{]-?\\s*spark_cdc[.]' ~ kind ~ '[(][)]\\s*-?[}][}]', node.raw_code | trim) -%}
            {%- set view = spark_cdc._relation_in(node.schema, node.alias) -%}
            {%- set found = operated.catalog.get(node.alias, {}).get('text') -%}
            {%- set accepted = [] -%}
            {%- for query in spark_cdc._view_queries(operated, kind) -%}
                {%- set text = spark_cdc._typed_view_sql(query, manifest) -%}
                {%- do accepted.append(spark_cdc._one_line(spark_cdc._stamped(text, 'spark_cdc view ' ~ local_md5(text)))) -%}
            {%- endfor -%}
            {%- if not found -%}
                {%- do spark_cdc._finding(findings, entity, 'the view ' ~ view ~ ' is missing', none, none, 'dbt run --select ' ~ node.name) -%}
            {%- elif spark_cdc._one_line(found) not in accepted -%}
                {%- set stamp = modules.re.search('spark_cdc view [0-9a-f]{32}', found) -%}
                {%- do spark_cdc._finding(findings, entity, 'the text of the view ' ~ view ~ ' is not what the project makes: somebody altered it, or another version of '
                    ~ 'spark_cdc wrote it', none, none, ('drop view ' ~ view ~ '; then ' if stamp else '') ~ 'dbt run --select ' ~ node.name) -%}
            {%- else -%}
                {%- do checked.append(kind) -%}
                {%- if kind != 'event_versions' -%}{%- do compared.append({'kind': kind, 'view': view}) -%}{%- endif -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if compared -%}
        {%- for row in spark_cdc._query(spark_cdc._view_sums_sql(operated, manifest.loads, compared)) if row.shown_rows != row.own_rows or row.shown_sum != row.own_sum -%}
            {%- do spark_cdc._finding(findings, entity, 'the view ' ~ entity.name ~ '_' ~ row.kind ~ ' shows ' ~ row.shown_rows ~ ' rows, the ledger gives ' ~ row.own_rows
                ~ (', with other values' if row.shown_rows == row.own_rows else ''), none, none,
                'if there are findings on the ledger above, repair those first; else report it') -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(checked) }}
{%- endmacro -%}


{#- What a view's query may be: current has a hint or not. -#}
{%- macro _view_queries(operated, kind) -%}
    {%- set entity = operated.entity -%}
    {%- if kind == 'current' -%}
        {{ return([spark_cdc._current_sql(entity, operated.committed, true), spark_cdc._current_sql(entity, operated.committed, false)]) }}
    {%- elif kind == 'history' -%}
        {{ return([spark_cdc._history_sql(entity, operated.committed)]) }}
    {%- elif kind == 'versions' -%}
        {{ return([spark_cdc._versions_sql(entity, operated.committed)]) }}
    {%- endif -%}
    {{ return([spark_cdc._event_versions_sql(entity, operated.events, operated.committed, operated.layout)]) }}
{%- endmacro -%}


{#- Rows and checksums of the views, and of what the ledger's rows give without manifest, checkpoints and views. -#}
{%- macro _view_sums_sql(operated, loads, compared) -%}
{%- set entity = operated.entity -%}
{%- set stored = entity.stored | map(attribute='sql') | list -%}
{%- set hashes = [spark_cdc._hex('key_hash') ~ ' as key_hash', spark_cdc._hex('nonkey_hash') ~ ' as nonkey_hash'] -%}
{%- set shown = {
    'current': stored + ['key_hash', 'nonkey_hash', 'operation', 'eff_start_date'],
    'history': stored + ['key_hash', 'nonkey_hash', 'operation', 'eff_start_date', 'business_date'],
    'versions': stored + ['key_hash', 'nonkey_hash', 'operation', 'eff_start_date', 'eff_end_date', 'is_current'],
} -%}
{%- set carried = 'N' if spark_cdc._load_kind(loads[-1]).is_full else 'X' -%}
with rows_of_ledger as (
    select *
    from {{ spark_cdc._from(operated.rows) | indent(4) }}
    where
        {{ spark_cdc._in_loads(loads) }}
        and operation in {{ spark_cdc._operations('known') }}
),

own_current as (
    select
        {{ (stored + hashes) | join(',\n        ') }},
        if(load_id = {{ spark_cdc._literal(loads[-1]) }}, operation, '{{ carried }}') as operation,
        eff_start_date
    from (
        select
            *,
            row_number() over (partition by key_hash order by load_id desc, eff_start_date desc) as recency
        from rows_of_ledger
    ) as ranked
    where recency = 1 and operation not in ('D', 'T')
),

own_history as (
    select
        {{ (stored + hashes) | join(',\n        ') }},
        operation,
        eff_start_date,
        business_date
    from rows_of_ledger
    where operation in {{ spark_cdc._operations('changes') }}
),

own_versions as (
    select
        {{ stored | join(',\n        ') }},
        key_hash,
        nonkey_hash,
        operation,
        eff_start_date,
        lead(eff_start_date) over (partition by key_hash order by eff_start_date) as eff_end_date,
        lead(eff_start_date) over (partition by key_hash order by eff_start_date) is null as is_current
    from own_history
),

sums as (
    {%- for found in compared %}
    {%- for side, relation in [('shown', found.view), ('own', 'own_' ~ found.kind)] %}
    select
        '{{ found.kind }}' as kind,
        '{{ side }}' as side,
        count(*) as row_count,
        sum(cast(xxhash64(to_json(struct({{ shown[found.kind] | join(', ') }}))) as decimal(38, 0))) as checksum
    from {{ relation }}
    {%- if side == 'own' and found.kind == 'versions' %}
    where operation <> 'D'
    {%- endif %}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
)

select
    kind,
    max(if(side = 'shown', row_count, null)) as shown_rows,
    max(if(side = 'own', row_count, null)) as own_rows,
    coalesce(max(if(side = 'shown', checksum, null)), 0) as shown_sum,
    coalesce(max(if(side = 'own', checksum, null)), 0) as own_sum
from sums
group by kind
order by kind
{%- endmacro -%}


{#- dbt's models of an entity (committed, current, …), by their names. -#}
{%- macro _models_of(ledger_node, name) -%}
    {%- set models = {} -%}
    {%- for node in graph.nodes.values()
            if node.resource_type == 'model' and node.name.startswith(name ~ '_') and node.package_name == ledger_node.package_name -%}
        {%- do models.update({node.name: node}) -%}
    {%- endfor -%}
    {{ return(models) }}
{%- endmacro -%}
