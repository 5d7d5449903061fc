{#- The model <entity>_versions: each version of each row, with the dates between which it was
    true. -#}
{%- macro versions() -%}{{ return(spark_cdc._view_query(spark_cdc._versions_sql)) }}{%- endmacro -%}


{#- What was true on a date, or in a state that has a tag, as a query to select from: select * from
    ({{ '{{' }} spark_cdc.as_of(ref('orders_versions'), '2024-03-02') {{ '}}' }}) as orders select *
    from ({{ '{{' }} spark_cdc.as_of(ref('orders_current'), tag='march') {{ '}}' }}) as orders
    Arguments: versions (relation of <entity>_versions; with a tag also of <entity>_current or
    _history), date (date or timestamp, as text; of versions), tag (name of a tag).
    Returns a query. -#}
{%- macro as_of(versions, date=none, tag=none) -%}
    {#- the graph is not there at parse time -#}
    {%- if tag is not none and not execute -%}{{ return('') }}{%- endif -%}
    {%- set time = spark_cdc._business_time(date) -%}
    {%- set message -%}
        {%- if date is none and tag is none %}spark_cdc.as_of: neither a date nor a tag is given.
        {%- elif date is not none and time is none -%}
spark_cdc.as_of: '{{ date }}' is no date that exists. Accepted are YYYY-MM-DD and 'YYYY-MM-DD HH:MM[:SS]'.
        {%- elif date is not none and tag is not none and not versions.identifier.endswith('_versions') -%}
spark_cdc.as_of: a date was asked of {{ versions.identifier }}, which shows one state. Accepted are <entity>_versions, or a tag alone.
        {%- endif -%}
    {%- endset -%}
    {%- if message -%}{%- do exceptions.raise_compiler_error(message) -%}{%- endif -%}
    {%- set shown = versions | string if tag is none else '(\n' ~ spark_cdc._tagged_sql(versions, tag) ~ '\n) as tagged' -%}
    {%- if time is none -%}
select * from {{ shown | indent(4) }}
    {%- else -%}
    {%- set literal = "timestamp_ntz'" ~ time.strftime('%Y-%m-%d %H:%M:%S') ~ "'" -%}
    {%- set validity = spark_cdc._validity_of(versions) -%}
select *
from {{ shown | indent(4) }}
where
    {{ validity.start }} <= {{ literal }}
    and ({{ validity.end }} {{ '>=' if validity.end_is == 'inclusive' else '>' }} {{ literal }} or {{ validity.end }} is null)
    {%- endif -%}
{%- endmacro -%}


{#- What the columns of versions are called (_validity()): those of the entity that the relation is
    named after, else as they are by default. While dbt parses, the latter. Argument: versions
    (relation, or its name). -#}
{%- macro _validity_of(versions) -%}
    {%- set identifier = versions.split('.')[-1] if versions is string else versions.identifier -%}
    {%- set node = spark_cdc.entity_node(identifier.removesuffix('_sensitive').removesuffix('_versions')) if execute else none -%}
    {{ return(spark_cdc._validity(spark_cdc._settings_of(node) if node else {}, spark_cdc._known_settings())) }}
{%- endmacro -%}


{#- The columns of <entity>_versions that say when a version holds, as expressions over
    eff_start_date and eff_end_date (exclusive; null while it does), with their names. Returns a
    list of SQL. -#}
{%- macro _validity_columns(entity) -%}
    {%- set validity, ended = entity.validity, 'eff_end_date' -%}
    {%- if validity.end_is == 'inclusive' -%}
        {%- set ended = 'date_sub(eff_end_date, 1)' if entity.eff_type == 'date' else 'eff_end_date - interval 1 second' -%}
    {%- endif -%}
    {{ return([
        spark_cdc._aliased('eff_start_date', validity.start),
        spark_cdc._aliased(spark_cdc._validity_end(entity, ended, entity.eff_type), validity.end),
        'eff_end_date is null as ' ~ validity.current,
    ]) }}
{%- endmacro -%}


{#- The name of a column that says when a version of another view holds: the view's own, unless
    `validity` gives it one. Arguments: part (start, end or current), own. -#}
{%- macro _validity_name(entity, part, own) -%}
    {%- set name = entity.validity[part] -%}
    {{ return(own if name == spark_cdc._quote(spark_cdc._known_settings().entity.validity.settings[part].default) else name) }}
{%- endmacro -%}


{#- A time at which a version ends, with the open end of `validity` for one that has none.
    Arguments: sql, data_type (of it), is_open (a condition, where the end of one that ended may be
    null). -#}
{%- macro _validity_end(entity, sql, data_type, is_open=none) -%}
    {%- if entity.validity.open_end is none -%}{{ return(sql) }}{%- endif -%}
    {%- set last = spark_cdc._time_literal(dict(entity, eff_type=data_type), spark_cdc._business_time(entity.validity.open_end)) -%}
    {{ return('if(' ~ is_open ~ ', ' ~ last ~ ', ' ~ sql ~ ')' if is_open else 'coalesce(' ~ sql ~ ', ' ~ last ~ ')') }}
{%- endmacro -%}


{#- All changes of all rows as a CTE `changes`, with eff_end_date: the date of the key's next
    change, null for its last one. Arguments as of _versions_sql(). -#}
{%- macro _changes_cte(entity, committed) -%}
changes as (
    select
        {{ entity.stored | map(attribute='sql') | join(',\n        ') }},
        key_hash,
        nonkey_hash,
        operation,
        eff_start_date,
        lead(eff_start_date) over (partition by key_hash order by eff_start_date) as eff_end_date
    from {{ committed }}
    where operation in {{ spark_cdc._operations('changes') }}
)
{%- endmacro -%}


{#- The versions of all rows as SQL: each I or U opens one, the key's next change (also D) closes
    it.
    Arguments: entity, committed (relation or CTE with the columns of _committed_sql()).
    Returns a query with the columns of _validity_columns(). -#}
{%- macro _versions_sql(entity, committed) -%}
with {{ spark_cdc._changes_cte(entity, committed) }}

select
    {{ entity.stored | map(attribute='sql') | join(',\n    ') }},
    {{ spark_cdc._hex('key_hash') }} as key_hash,
    {{ spark_cdc._hex('nonkey_hash') }} as nonkey_hash,
    operation,
    {{ spark_cdc._validity_columns(entity) | join(',\n    ') }}
from changes
where operation <> 'D'
{%- endmacro -%}
