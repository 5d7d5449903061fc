{#- Each row is what it must be, given the row of the same key before it: rows are followed through
    the loads key by key. Hashes are computed anew where the load's definition (columns, types,
    roles) is today's, and compared where those of both rows were computed of the same one. Rows of
    keys that were erased have a key hash that is random where the key is sensitive, and their
    hashes do not tell that a sensitive value changed. Rows that a file counts but that can't be
    read are found, too. All of the ledger is read, and sorted by key. On <entity>_committed;
    columns as of _verified(). -#}
{%- test ledger_rows_consistent(model) -%}
{{- config(tags=['spark_cdc_verify']) -}}
{%- set verified = spark_cdc._verified(model) -%}
{%- if verified.loads -%}
{%- do spark_cdc._read_despite_damage() -%}
{%- set entity = verified.entity -%}
{%- set in_loads = spark_cdc._in_loads(verified.loads) ~ ' and operation in ' ~ spark_cdc._operations('known') -%}
{%- set hashes = {'key_hash': entity.key_columns, 'nonkey_hash': entity.compared, 'untracked_hash': entity.untracked} -%}
{%- if not entity.key_columns -%}{%- do hashes.pop('key_hash') -%}{%- endif -%}
{%- if not entity.untracked -%}{%- do hashes.pop('untracked_hash') -%}{%- endif -%}
{%- set erased = spark_cdc._erased_list(entity) if entity.sensitive and entity.name ~ '_erased' in verified.catalog else none -%}
{%- set of_key = spark_cdc._has_sensitive_key(entity) -%}
{%- set key_texts, key_values = [], [] -%}
{%- set is_shown = not entity.key_columns | selectattr('sensitive') | list -%}
{%- for column in (entity.key_columns if is_shown) or [{'name': 'key_hash', 'sql': 'key_hash', 'data_type': 'binary'}] -%}
    {%- do key_texts.append(column.name.replace('%', '%%') ~ ' = %s') -%}
    {%- do key_values.append(('hex(' if column.data_type == 'binary' else 'string(') ~ column.sql ~ ')') -%}
{%- endfor -%}
with {{ spark_cdc._verified_loads(verified) }},

{{ spark_cdc._verified_records(verified) }},

definitions as (
    select
        loads.load_id,
        loads.kind = 'h' as is_history,
        loads.next_checkpoint,
        xxhash64(array_sort(map_entries(records.record.definition))) as definition,
        array_sort(map_entries(records.record.definition)) <=> array_sort(map_entries(
            from_json({{ spark_cdc._literal(tojson(spark_cdc._definition(entity))) }}, 'map<string, string>')
        )) as is_of_today
    from loads
    left join records
        on loads.load_id = records.load_id
),

stored as (
    select
        load_id,
        operation,
        key_hash,
        nonkey_hash,
        eff_start_date,
        business_date,
        operation not in ('D', 'T') as is_alive,
        {%- for name, columns in hashes.items() %}
        not {{ name }} <=> {{ spark_cdc._hash(columns) | indent(8) }} as {{ name }}_differs,
        {%- endfor %}
        {%- if erased %}
        erased_key_hash is not null as is_erased,
        {%- endif %}
        format_string({{ spark_cdc._literal(key_texts | join(', ')) }}, {{ key_values | join(', ') }}) as key_text
    from {{ spark_cdc._from(verified.rows) | indent(4) }}
    {%- if erased %}
    left join (select distinct key_hash as erased_key_hash from {{ erased }}) as erased
        on key_hash = erased.erased_key_hash
    {%- endif %}
    where {{ in_loads }}
),

followed as (
    select /*+ broadcast(definitions) */
        stored.*,
        definitions.is_history,
        definitions.next_checkpoint,
        definitions.definition,
        definitions.is_of_today,
        coalesce(lag(stored.is_alive) over of_key, false) as was_alive,
        lag(stored.load_id) over of_key as prior_load_id,
        lag(stored.nonkey_hash) over of_key as prior_nonkey_hash,
        lag(stored.eff_start_date) over of_key as prior_start_date,
        lag(definitions.definition) over of_key as prior_definition,
        lead(stored.load_id) over of_key as next_load_id
    from stored
    inner join definitions
        on stored.load_id = definitions.load_id
    window of_key as (partition by stored.key_hash order by stored.load_id, stored.eff_start_date, stored.operation)
),

judged as (
    select
        *,
        case
            {%- for name in hashes %}
            when is_of_today and {{ name }}_differs{{ ' and not is_erased' if erased and of_key and name == 'key_hash' }}
                then '{{ name }} is not the hash of the {{ 'key columns' if name == 'key_hash' else 'stored values: values were changed in the ledger' }}'
            {%- endfor %}
            when load_id = prior_load_id and (not is_history or eff_start_date = prior_start_date)
                then 'the key comes more than once in the load'
            when operation = 'I' and was_alive then 'I (inserted) for a key that was there already'
            when operation in ('U', 'D', 'N', 'X') and not was_alive then 'U, D, N or X for a key that was not there'
            when operation = 'T' and was_alive then 'T (tombstone) for a key that was there'
            when operation = 'U' and definition = prior_definition and nonkey_hash = prior_nonkey_hash{{ ' and not is_erased' if erased }}
                then 'U (updated) though nothing that is compared differs from the row before'
            when operation in ('D', 'N', 'X') and definition = prior_definition and nonkey_hash <> prior_nonkey_hash
                then 'D, N or X with other values than the row before'
            when operation in ('I', 'U', 'D') and cast(eff_start_date as date) <> business_date
                then 'eff_start_date is not the business date of the change'
            when operation in ('N', 'X') and eff_start_date <> prior_start_date
                then 'N or X with another eff_start_date than the row before'
        end as own_problem,
        is_alive and (next_load_id > next_checkpoint or (next_load_id is null and next_checkpoint is not null)) as is_dropped
    from followed
),

{# What the files' footers count is a row of its own beside what was read. -#}
counted as (
    select
        load_id,
        operation,
        false as is_footer,
        coalesce(own_problem, if(is_dropped, 'the key was there before the checkpoint, which lacks it', null)) as problem,
        if(own_problem is null and is_dropped, next_checkpoint, load_id) as began_in,
        count(*) as row_count,
        min(key_text) as first_key,
        max(key_text) as last_key
    from judged
    group by all

    union all

    select
        load_id,
        operation,
        true as is_footer,
        null as problem,
        load_id as began_in,
        count(*) as row_count,
        null as first_key,
        null as last_key
    from {{ verified.ledger }}
    where {{ in_loads }}
    group by load_id, operation
),

compared as (
    select
        *,
        sum(if(is_footer, 0, row_count)) over (partition by load_id, operation) as rows_read
    from counted
),

found as (
    select
        if(
            is_footer, format_string('of %s rows %s %s can be read: a file\'s content is damaged', row_count, operation, rows_read), problem
        ) as problem,
        began_in as load_id,
        sum(if(is_footer, null, row_count)) as row_count,
        concat_ws('; ', min(first_key), nullif(max(last_key), min(first_key))) as examples,
        if(is_footer, 'restore it from a backup, or %s', '%s') as repair
    from compared
    where problem is not null or (is_footer and row_count <> rows_read)
    group by all
)

{{ spark_cdc._verified_findings(verified, row_count='found.row_count', examples='found.examples') }}
{%- else -%}
{{ spark_cdc._verified_nothing() }}
{%- endif -%}
{%- endtest -%}
