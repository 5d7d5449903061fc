{#- Adds to cdc_loads the loads of a manifest that it lacks: the one that was just committed, what a crash between a commit and its row there
    left out, the loads of a replay; and the last undo or redo. A row that is there is not overwritten: people may be reading it. The figures come from the ledger.
    Arguments: capture, manifest, now (whether they were committed just now), committed (loads that were, whose
    figures are known: a list of dictionaries, load of _plan_load(), audit of _audit_load()). -#}
{%- macro _record_missing_loads(capture, manifest, now=false, committed=[]) -%}
    {%- set entity, load_log = capture.entity, capture.load_log -%}
    {%- set known = spark_cdc._recorded_loads(load_log, entity.name) -%}
    {%- do spark_cdc._record_loads(load_log, entity, committed | rejectattr('load.load_id', 'in', known) | list) -%}
    {%- do known.extend(committed | map(attribute='load.load_id')) -%}
    {%- if 'move' in manifest and manifest.move.load_id not in known -%}
        {%- do spark_cdc._record_move(capture, manifest) -%}
    {%- endif -%}
    {%- if not manifest.loads | reject('in', known) | list -%}
        {{ return('') }}
    {%- endif -%}

    {%- set counted = spark_cdc._load_counts(capture.masked, manifest.loads, manifest.loads, [
        spark_cdc._rule_counts_sql(entity, capture.masked, manifest.loads),
    ]) -%}
    {%- set unknown = [] -%}
    {%- for load_id, record in counted.records.items() if load_id not in known -%}{%- do unknown.append(record) -%}{%- endfor -%}
    {%- do spark_cdc._set_load_status(load_log, 'committed', 'replaced', entity.name, spark_cdc._replaced_by(unknown)) -%}
    {%- set before = namespace(rows=0) -%}
    {%- for load_id in manifest.loads -%}
        {%- set record = counted.records.get(load_id, {}) -%}
        {%- set figures = spark_cdc._figures_of_load(load_id, counted.rows.get(load_id, {}), before.rows, record) -%}
        {%- if load_id not in known and not record -%}
            {%- do log(entity.name ~ ': load ' ~ load_id ~ ' stays out of cdc_loads: an earlier run left it out, and its record in the ledger ('
                ~ 'operation L) is gone or cannot be read; spark-cdc verify tells more', info=true) -%}
        {%- elif load_id not in known -%}
            {%- set rules = spark_cdc._rule_counts_of_load(entity, figures.counts, counted.rules.get(load_id)) -%}
            {%- do spark_cdc._record_load(load_log, entity, record, dict(figures, rules=rules), now) -%}
            {%- if not now -%}
                {%- do log(entity.name ~ ': added load ' ~ load_id ~ ' to cdc_loads, which an earlier run left out', info=true) -%}
            {%- endif -%}
        {%- endif -%}
        {%- set before.rows = figures.rows_current -%}
    {%- endfor -%}
{%- endmacro -%}
