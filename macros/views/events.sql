{#- The model <entity>_event_versions: one interval per event, in the source's own order and time.
    Needs the archive (events.archive: true). Returns the model's SQL. -#}
{%- macro event_versions() -%}
    {{ return(spark_cdc._view_query(spark_cdc._event_versions_sql, 'events')) }}
{%- endmacro -%}


{#- The model <entity>_bitemporal: what was believed of each row, by two times: when it was so at
    the source (valid), and which loads knew it (known). Needs the archive (events.archive: true).
    Returns the model's SQL. -#}
{%- macro bitemporal() -%}
    {{ return(spark_cdc._view_query(spark_cdc._bitemporal_sql, 'events')) }}
{%- endmacro -%}


{#- The versions of all rows, event by event, as SQL: the archived events of all committed loads,
    resolved anew as if they had come in one batch, so that the loads in which they arrived do not
    matter. A row's version begins with an event and ends with the next one of its key, or with a
    truncate.
    Arguments: entity, events (relation of <entity>_events), committed (relation or CTE of
    <entity>_committed), layout (of the manifest).
    Returns a query: the stored columns, key_hash, event_op, event_position, event_end_position
    (exclusive; null while open), event_time, event_end_time, is_current, event_transaction,
    business_date and load_id (of the load that brought it). -#}
{%- macro _event_versions_sql(entity, events, committed, layout={}) -%}
{%- set summary = dict(spark_cdc._any_events(), late_possible=false, alternates=entity.events.unique_keys | length > 0) -%}
{%- set carried = ['event_op', 'event_time', 'event_transaction', 'business_date', 'load_id'] -%}
{%- set source = 'named' if summary.alternates else 'events' -%}
with
{{ spark_cdc._archived_ctes(entity, events, committed, layout) }},
{% if summary.alternates %}
{{ spark_cdc._alternate_key_ctes({'entity': entity, 'load': {'base': none}}, 'events', carried) }},
{% endif %}
{{ spark_cdc._resolve_ctes(entity, source, summary, none, carried, deletes=none if source == 'named' else 'archived') }},

ended as (
    select
        *,
        lead(event_position) over of_key as event_end_position,
        lead(event_time) over of_key as event_end_time
    from resolved
    window of_key as (partition by key_hash order by event_position, cdc__half, load_id)
)

select
    {% for column in entity.stored -%}
    {{ spark_cdc._aliased(column.sql if column.role == 'key' else spark_cdc._quote('cdc__filled_' ~ column.name) ~ '.value', column.sql) }},
    {% endfor -%}
    {{ spark_cdc._hex('key_hash') }} as key_hash,
    event_op,
    event_position,
    event_end_position,
    {{ spark_cdc._aliased('event_time', spark_cdc._validity_name(entity, 'start', 'event_time')) }},
    {{ spark_cdc._aliased(
        spark_cdc._validity_end(entity, 'event_end_time', 'timestamp', 'event_end_position is null'),
        spark_cdc._validity_name(entity, 'end', 'event_end_time')) }},
    event_end_position is null as {{ spark_cdc._validity_name(entity, 'current', 'is_current') }},
    event_transaction,
    business_date,
    load_id
from ended
where cdc__is_alive
{%- endmacro -%}


{#- What was believed of each row, as SQL: the versions of _event_versions_sql() as they were after
    each load, as rectangles of two times. valid: when it was so at the source; known: the loads
    from which on, and up to which, it passed for so. Both half-open.

    Events that come in order need no second look: a version holds as long as no load knows its end,
    and from that load on with its end. A load that brings an event from before what was known of
    its key (a late one) changes what is believed of the past. So the loads of a key fall into eras,
    each of which begins with such a load; in each era all events up to its end are resolved anew,
    as rows of keys and transactions of that era's own. What two eras believe alike is one belief.
    Keys between which rows move depend on each other, and share their eras; where rows go by other
    unique keys, all do.
    Arguments: as of _event_versions_sql(). Returns a query: the stored columns, key_hash,
    event_op, event_position, event_end_position (exclusive; null while open), valid_from and
    valid_to (event_time of both), known_from and known_to (business times of loads; null while
    it still passes for so), is_current, event_transaction, load_id (of the load that brought the
    event). -#}
{%- macro _bitemporal_sql(entity, events, committed, layout={}) -%}
{%- set alternates = entity.events.unique_keys | length > 0 -%}
{%- set summary = dict(spark_cdc._any_events(), late_possible=false, alternates=alternates) -%}
{%- set moves = spark_cdc._keys_move(entity, summary) -%}
{%- set carried = ['event_op', 'event_time', 'cdc__source_transaction', 'load_id', 'cdc__era_from', 'cdc__era_to'] -%}
{%- set group = 'events.key_hash' if not moves else "cast('' as binary)" -%}
{%- if moves and not alternates -%}{%- set group = "if(moving.key_hash is null, events.key_hash, cast('' as binary))" -%}{%- endif -%}
{%- set load_number = "cast(rpad(translate(split_part(events.load_id, '-', 1), 'T', ''), 14, '0') as bigint)" -%}
{#- this hash leaves no query, so it needs no secret, which readers of the view need not have -#}
{%- set compared = [] -%}
{%- for column in entity.stored if column.role != 'key' -%}{%- do compared.append(dict(column, secret=none)) -%}{%- endfor -%}
{#- keys and transactions of an event in an era are that era's own -#}
{%- set era = "if(size(cdc__eras) > 1, cdc__era_from, '')" -%}
{%- set of_era = {'event_transaction': 'concat(' ~ era ~ ", ' ', coalesce(event_transaction, to_json(event_position)))",
                  'alternate_hashes': 'transform(alternate_hashes, each -> concat(each, cast(' ~ era ~ ' as binary)))'} -%}
{%- for name in ['key_hash', 'old_key_hash', 'old_alternate_hash'] -%}
    {%- do of_era.update({name: 'concat(' ~ name ~ ', cast(' ~ era ~ ' as binary))'}) -%}
{%- endfor -%}
{%- set of_belief = 'partition by key_hash, event_position, load_id, cdc__valid_end, cdc__row_hash order by cdc__known_since' -%}
with
{{ spark_cdc._archived_ctes(entity, events, committed, layout) }},
{% if moves and not alternates %}
-- keys between which rows may move: by one event, two at one place, or within a transaction
moving as (
    select distinct explode(flatten(keys)) as key_hash
    from (
        select collect_list(array_compact(array(key_hash, old_key_hash))) as keys
        from archived
        where old_key_hash is not null or event_op in ('insert', 'delete')
        group by event_position
        having count(old_key_hash) > 0 or count_if(event_op = 'insert') > 0 and count_if(event_op = 'delete') > 0

        union all

        select collect_list(array_compact(array(key_hash, old_key_hash))) as keys
        from archived
        where event_transaction is not null and (event_op in ('insert', 'delete') or old_key_hash is not null)
        group by event_transaction
        having
            count_if(event_op = 'delete') > 0
            and min(if(event_op = 'insert', event_position, null))
            < max(if(event_op = 'delete' or old_key_hash is not null, event_position, null))
    ) as tied
),
{% endif %}
-- each event, once for each era of its key that knows it
believed as (
    select
        {%- for column in spark_cdc._event_columns_of_rows(entity) %}
        {{ spark_cdc._aliased(of_era.get(column.name, column.sql), column.sql) }},
        {%- endfor %}
        event_transaction as cdc__source_transaction,
        load_id,
        if(size(cdc__eras) > 1, cdc__era_from, null) as cdc__era_from,
        get(cdc__eras, cast(array_position(cdc__eras, cdc__era_from) as int)) as cdc__era_to
    from (
        select
            *,
            array_sort(collect_set(if(cdc__is_first and cdc__is_late, load_id, null)) over (partition by cdc__group)) as cdc__eras
        from (
            select
                events.*,
                {{ group }} as cdc__group,
                min(events.load_id) over (
                    partition by events.key_hash, events.event_position, events.event_hash
                ) = events.load_id as cdc__is_first,
                coalesce(events.event_position <= max(events.event_position) over (
                    partition by {{ group }}
                    order by {{ load_number }} range between unbounded preceding and 1 preceding
                ), true) as cdc__is_late
            from events
            {%- if moves and not alternates %}
            left join moving
                on events.key_hash = moving.key_hash
            {%- endif %}
        ) as related
    ) as known_as
        lateral view explode(cdc__eras) as cdc__era_from
    where load_id < coalesce(get(cdc__eras, cast(array_position(cdc__eras, cdc__era_from) as int)), '~')
),
{% if alternates %}
{{ spark_cdc._alternate_key_ctes({'entity': entity, 'load': {'base': none}}, 'believed', carried) }},
{% endif %}
{{ spark_cdc._resolve_ctes(entity, 'named' if alternates else 'believed', summary, none, carried=carried) }},

-- a version without its end, until a load knows it, and with it from there on
beliefs as (
    select
        *,
        if(
            cdc__era_from is null,
            null,
            {{ spark_cdc._hash(compared) | indent(12) }}
        ) as cdc__row_hash,
        if(cdc__has_end, event_end_position, null) as cdc__valid_end,
        if(cdc__has_end, event_end_time, null) as cdc__valid_to,
        greatest(load_id, cdc__era_from, if(cdc__has_end, cdc__end_load_id, null)) as cdc__known_since,
        if(cdc__has_end, cdc__era_to, coalesce(cdc__end_load_id, cdc__era_to)) as cdc__known_until
    from (
        select
            {% for column in entity.stored -%}
            {{ spark_cdc._aliased(column.sql if column.role == 'key' else spark_cdc._quote('cdc__filled_' ~ column.name) ~ '.value', column.sql) }},
            {% endfor -%}
            substr(key_hash, 1, 16) as key_hash,
            {{ carried | join(',\n            ') }},
            event_position,
            cdc__is_alive,
            lead(event_position) over of_key as event_end_position,
            lead(event_time) over of_key as event_end_time,
            lead(load_id) over of_key as cdc__end_load_id
        from resolved
        window of_key as (partition by key_hash order by event_position, cdc__half, load_id)
    ) as versions
        lateral view explode(array(false, true)) as cdc__has_end
    where cdc__is_alive and (cdc__end_load_id is not null or not cdc__has_end)
)

-- what eras that follow each other believe alike is one belief
select
    {% for column in entity.stored -%}
    {{ column.sql }},
    {% endfor -%}
    {{ spark_cdc._hex('key_hash') }} as key_hash,
    event_op,
    event_position,
    cdc__valid_end as event_end_position,
    event_time as {{ spark_cdc._validity_name(entity, 'start', 'valid_from') }},
    {{ spark_cdc._validity_end(entity, 'cdc__valid_to', 'timestamp', 'cdc__valid_end is null') }} as {{ spark_cdc._validity_name(entity, 'end', 'valid_to') }},
    {{ spark_cdc._load_time_sql(entity, 'cdc__known_since') }} as known_from,
    {{ spark_cdc._validity_end(entity, spark_cdc._load_time_sql(entity, 'cdc__known_last'), entity.eff_type) }} as known_to,
    cdc__valid_end is null and cdc__known_last is null as {{ spark_cdc._validity_name(entity, 'current', 'is_current') }},
    cdc__source_transaction as event_transaction,
    load_id
from (
    select
        *,
        if(cdc__goes_on, lead(cdc__known_until) over of_belief, cdc__known_until) as cdc__known_last
    from (
        select
            *,
            coalesce(lag(cdc__known_until) over of_belief = cdc__known_since, false) as cdc__goes_back,
            coalesce(lead(cdc__known_since) over of_belief = cdc__known_until, false) as cdc__goes_on
        from beliefs
        where cdc__known_since < coalesce(cdc__known_until, '~')
        window of_belief as ({{ of_belief }})
    ) as stretches
    where not (cdc__goes_back and cdc__goes_on)
    window of_belief as ({{ of_belief }})
) as joined
where not cdc__goes_back
{%- endmacro -%}


{#- The archived events of all loads that count, as common table expressions; the last of them is
    `events`: what they do to keys.
    Arguments: entity, events (relation of <entity>_events), committed (relation or CTE of
    <entity>_committed), layout (of the manifest). -#}
{%- macro _archived_ctes(entity, events, committed, layout) -%}
{%- set of_delete = {'event_op': "'delete'", 'event_transaction': "' truncate'", 'key_hash': 'known.key_hash'} -%}
{%- for name in ['event_position', 'event_time', 'event_hash'] -%}{%- do of_delete.update({name: 'truncates.' ~ name}) -%}{%- endfor -%}
{%- for column in entity.key_columns -%}{%- do of_delete.update({column.name: 'known.' ~ column.sql}) -%}{%- endfor -%}
archived as (
    select
        {% for column in spark_cdc._event_columns_of_rows(entity) -%}
        {{ column.sql }},
        {% endfor -%}
        business_date,
        load_id
    from {{ spark_cdc._from(spark_cdc._archived_events(entity, events, layout)) | indent(4) }}
    where
        cdc__note is null
        and event_op <> 'control'
        and load_id in (select explode(coalesce(compacted_load_ids, array(load_id))) from {{ committed }} where operation = 'L')
),

-- a truncate is a delete of every key that was known
known as (
    select
        key_hash,
        {% for column in entity.key_columns -%}
        min({{ column.sql }}) as {{ column.sql }},
        {% endfor -%}
        min(event_position) as first_position
    from archived
    where key_hash is not null
    group by key_hash
),

events as (
    select *
    from archived
    where event_op <> 'truncate'

    union all

    select
        {% for column in spark_cdc._event_columns_of_rows(entity) -%}
        {{ of_delete.get(column.name) or 'cast(null as ' ~ column.data_type ~ ')' }} as {{ column.sql }},
        {% endfor -%}
        truncates.business_date,
        truncates.load_id
    from known
    inner join archived as truncates
        on truncates.event_op = 'truncate' and truncates.event_position >= known.first_position
)
{%- endmacro -%}
