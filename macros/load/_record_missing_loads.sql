{#- Adds to cdc_loads the loads of a manifest that it lacks: the one that was just committed, what a crash between a commit and its
    row there left out, the loads of a replay. A row that is there is not overwritten: people may be reading it, and another run
    may have added it. Unless they are given, the figures are computed from the ledger, which holds all of them.
    Arguments: load_log (relation of cdc_loads), entity, ledger (relation), manifest, now (whether they were committed just
    now), committed (a load that was, whose figures are known: {load: of _plan_load(), audit: of _audit_load()}). Returns nothing. -#}
{%- macro _record_missing_loads(load_log, entity, ledger, manifest, now=false, committed=none) -%}
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
