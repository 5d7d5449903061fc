{#- The archive has as many events of each load as the load's record says, also of those that
    compact merged. Told from file footers; an entity without an archive passes. On
    <entity>_committed; columns as of _verified(). -#}
{%- test archive_complete(model) -%}
{{- config(tags=['spark_cdc_verify']) -}}
{%- set verified = spark_cdc._verified(model) -%}
{%- if verified.loads and verified.entity.events and verified.entity.events.archive -%}
{%- do spark_cdc._read_despite_damage() -%}
{%- set is_there = verified.events.identifier in verified.catalog -%}
{%- if is_there -%}{%- do spark_cdc._refresh(verified.events) -%}{%- endif -%}
with {{ spark_cdc._verified_records(verified) }},

{# Events lie under the names of the loads that read them. -#}
archived as (
    select
        load_id,
        record.events.event_count as recorded_count,
        explode_outer(
            if(size(record.compacted) > 0, record.compacted, if(load_id rlike '-h', null, array(load_id)))
        ) as archived_load_id
    from records
),

stored as (
    select
        load_id,
        count(*) as event_count
    from {{ verified.events if is_there else "(select '' as load_id) as nothing" }}
    group by load_id
),

counted as (
    select
        archived.load_id,
        archived.recorded_count,
        coalesce(sum(stored.event_count), 0) as event_count
    from archived
    left join stored
        on archived.archived_load_id = stored.load_id
    group by archived.load_id, archived.recorded_count
),

found as (
    select
        format_string('{{ verified.events }} has %s events of the load instead of %s', event_count, recorded_count) as problem,
        load_id,
        'restore the partition from a backup, or %s' as repair
    from counted
    where event_count <> recorded_count
)

{{ spark_cdc._verified_findings(verified) }}
{%- else -%}
{{ spark_cdc._verified_nothing() }}
{%- endif -%}
{%- endtest -%}
