{#- What lies in storage is what the manifest names: the manifest is there, made by the project, and
    that of the last commit; all files of its loads can be opened; no partition is unregistered or
    empty; each load has one record and builds on the load before it. On <entity>_committed; columns
    as of _verified(). -#}
{%- test files_match_manifest(model) -%}
{{- config(tags=['spark_cdc_verify']) -}}
{%- set verified = spark_cdc._verified(model) -%}
{%- set findings = spark_cdc._verified_manifest(verified) if verified.entity else [] -%}
{%- if verified.loads or findings -%}
with
{%- if verified.loads %}
{%- set files = spark_cdc._verified_files(verified) %} {{ spark_cdc._verified_loads(verified) }},

{{ spark_cdc._verified_records(verified, files.records) }},
{% if files.listed %}
listed as (
    select
        regexp_extract(path, '(business_date=[^/]+/.*)$', 1) as file,
        regexp_extract(path, '(business_date=[^/]+/.*)/', 1) as path
    from {{ files.listed }}
    where {{ spark_cdc._in_loads(verified.loads) }}
),

opened as (
    select distinct regexp_extract({{ spark_cdc._file_name_sql() }}, '(business_date=[^/]+/.*)$', 1) as file
    from {{ files.opened }}
    where {{ spark_cdc._in_loads(verified.loads) }}
),

partitions as (
    select
        path,
        regexp_extract(path, 'load_id=([^/]+)', 1) as load_id,
        max(is_registered) as is_registered,
        count(file) as file_count,
        count_if(is_unread) as unread_count,
        coalesce(min(if(is_unread, file, null)), min(file)) as example
    from (
        select
            listed.path,
            listed.file,
            opened.file is null as is_unread,
            false as is_registered
        from listed
        left join opened
            on listed.file = opened.file

        union all

        select
            explode(array('{{ files.partitions | join("', '") }}')) as path,
            null as file,
            false as is_unread,
            true as is_registered
    ) as seen
    group by path
),
{% endif %}
followed as (
    select
        loads.load_id,
        loads.prior_load_id,
        coalesce(records.record_count, 0) as record_count,
        records.record,
        lag(records.record.stands_for) over (order by loads.load_id) as prior_stands_for
    from loads
    left join records
        on loads.load_id = records.load_id
),
{% endif %}
found as (
    {{ spark_cdc._verified_list(findings + (files.findings if verified.loads else [])) | indent(4) }}
    {%- if verified.loads and files.listed %}

    union all

    select
        case
            when not is_registered
                then format_string('the partition %s is not registered, though its files are there: its rows are missing everywhere', path)
            when file_count = 0 then format_string('the partition %s has no files any more', path)
            else format_string('%s of the partition %s can\'t be read', if(unread_count = 1, '1 file', concat(unread_count, ' files')), path)
        end as problem,
        load_id,
        if(is_registered, 'restore it from a backup, or %s', 'alter table {{ files.table }} recover partitions') as repair,
        if(file_count = 0, null, example) as examples
    from partitions
    where path <> '' and (not is_registered or file_count = 0 or unread_count > 0)
    {%- endif %}
    {%- if verified.loads %}

    union all

    select
        case
            when record_count <> 1 then format_string('the load has %s records (rows with operation L) instead of one', record_count)
            when not record.load_id <=> load_id then format_string('the load\'s record is that of %s', record.load_id)
            else format_string(
                'the load builds on %s, but the load before it is %s', coalesce(record.parent, 'nothing'), coalesce(prior_load_id, 'none')
            )
        end as problem,
        load_id,
        '%s' as repair,
        null as examples
    from followed
    where
        record_count <> 1
        or not record.load_id <=> load_id
        or not (record.parent <=> prior_load_id or coalesce(record.parent = prior_stands_for, false))
    {%- endif %}
)

{{ spark_cdc._verified_findings(verified, verified.loads != [], examples='found.examples') }}
{%- else -%}
{{ spark_cdc._verified_nothing() }}
{%- endif -%}
{%- endtest -%}
