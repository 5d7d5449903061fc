{#- Adds to cdc_loads the loads of a manifest that it lacks: the one that was just committed, what a crash between a commit and its
    row there left out, the loads of a replay. A row that is there is not overwritten: people may be reading it, and another run
    may have added it. Unless they are given, the figures are computed from the ledger, which holds all of them.
    Arguments: load_log (relation of cdc_loads), entity, ledger (relation), manifest, now (whether they were committed just
    now), committed (a load that was, whose figures are known: {load: of plan_load(), audit: of audit_load()}). Returns nothing. -#}
{%- macro record_missing_loads(load_log, entity, ledger, manifest, now=false, committed=none) -%}
    {%- set known = [] -%}
    {%- for row in spark_cdc._query('show partitions ' ~ load_log ~ " partition (entity = '" ~ entity.name ~ "')") -%}
        {%- do known.append(row.partition.split('load_id=')[1]) -%}
    {%- endfor -%}
    {%- if committed and committed.load.load_id not in known -%}
        {%- do spark_cdc._record_load(load_log, entity, committed.load, committed.audit) -%}
        {%- do known.append(committed.load.load_id) -%}
    {%- endif -%}
    {%- set missing = manifest.loads | reject('in', known) | list -%}
    {%- if not missing -%}
        {{ return('') }}
    {%- endif -%}

    {%- set counts = {} -%}
    {%- set records = {} -%}
    {%- for row in spark_cdc._query(spark_cdc._all_counts_sql(ledger, manifest.loads)) -%}
        {%- do counts.setdefault(row.load_id, {}).update({row.operation: row.row_count | int}) -%}
        {%- if row.note -%}{%- do records.update({row.load_id: fromjson(row.note)}) -%}{%- endif -%}
    {%- endfor -%}
    {%- set before = namespace(rows=0) -%}
    {%- for load_id in manifest.loads -%}
        {%- set audit = spark_cdc._figures_of_load(load_id, counts.get(load_id, {}), before.rows) -%}
        {%- do audit.update({'record': records[load_id]}) -%}
        {%- if entity.events -%}{%- do audit.update({'rows_in': records[load_id].events.event_count}) -%}{%- endif -%}
        {%- if load_id in missing -%}
            {%- do spark_cdc._record_load(load_log, entity, records[load_id], audit, now) -%}
            {%- if not now -%}
                {%- do log(entity.name ~ ': added load ' ~ load_id ~ ' to cdc_loads, which an earlier run left out', info=true) -%}
            {%- endif -%}
        {%- endif -%}
        {%- set before.rows = audit.rows_current -%}
    {%- endfor -%}
{%- endmacro -%}


{%- macro _all_counts_sql(ledger, loads) -%}
select
    load_id,
    operation,
    count(*) as row_count,
    max(if(operation = 'L', note, null)) as note
from {{ ledger }}
where {{ spark_cdc._in_loads(loads) }}
group by load_id, operation
{%- endmacro -%}


{#- What audit_load() found when the load was committed, from the rows per operation that it wrote. -#}
{%- macro _figures_of_load(load_id, written, rows_prior) -%}
    {%- set counts = {'I': 0, 'U': 0, 'D': 0, 'N': 0, 'X': 0, 'R': 0, 'T': 0} -%}
    {%- do counts.update(written) -%}
    {%- if spark_cdc._is_history(load_id) -%}  {#- the changes of several loads, in which a key may come often -#}
        {{ return({'counts': counts, 'rows_in': counts.I + counts.U + counts.D, 'rows_prior': rows_prior,
            'rows_current': rows_prior + counts.I - counts.D}) }}
    {%- elif spark_cdc._is_full(load_id) -%}
        {%- do counts.update({'N': rows_prior - counts.U - counts.D - counts.X}) -%}
    {%- else -%}
        {%- do counts.update({'X': rows_prior - counts.U - counts.N - counts.D}) -%}
    {%- endif -%}
    {{ return({
        'counts': counts,
        'rows_in': counts.I + counts.U + counts.N + counts.R
                   + (0 if spark_cdc._is_full(load_id) else counts.D + counts['T']),
        'rows_prior': rows_prior,
        'rows_current': rows_prior + counts.I - counts.D,
    }) }}
{%- endmacro -%}
