{#- Upkeep without a person (on-run-end): of the entities of which this run has committed a load, those that have as many loads, counted from the last
    time, as their policy says (`upkeep`, or the var spark_cdc_upkeep) have the older ones squashed, see compact(), and what earlier such calls superseded longer ago
    than the retention is dropped, see vacuum(). Views are there by then, and no view changes. It asks nothing of the server where nothing is
    due, and leaves replays and branches alone. Both have rows in cdc_loads. Returns an empty text: there is no SQL to run. -#}
{%- macro maintain() -%}
    {%- if execute -%}{%- do spark_cdc._verify_note(results) -%}{%- endif -%}
    {%- if not execute or not spark_cdc._is_begun_load() or spark_cdc._replay() is not none -%}{{ return('') }}{%- endif -%}
    {%- set committed = [] -%}
    {%- for result in results if result.status == 'success' and result.node.resource_type == 'model' and result.node.config.materialized == 'cdc_committed' -%}
        {%- do committed.append(result.node.name[:-10]) -%}
    {%- endfor -%}
    {%- for capture in (spark_cdc._captures('maintain', committed) if committed else []) -%}
        {%- set policy = capture.entity.upkeep -%}
        {%- set manifest = spark_cdc._cached_manifest(capture.committed) or spark_cdc._read_manifest(capture.committed) -%}
        {%- set squashed = spark_cdc._loads_with(manifest.loads, 'is_squashed') -%}
        {%- set since = manifest.loads[manifest.loads.index(squashed[-1]) + 1:] if squashed else manifest.loads -%}
        {%- if spark_cdc._own(capture.ledger) == capture.ledger and policy.compact_loads is not none and since | length >= policy.compact_loads -%}
            {%- set merges = squashed | length >= policy.compact_loads -%}
            {%- set squashed = spark_cdc._compact_entity(capture, 0, merges, execute=true, keep_loads=[policy.keep_loads, 1] | max) -%}
            {%- if squashed and policy.retention_hours is not none -%}
                {%- do spark_cdc._vacuum_entity(capture, policy.retention_hours, execute=true) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return('') }}
{%- endmacro -%}
