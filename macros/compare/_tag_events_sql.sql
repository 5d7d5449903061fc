{#- Tagging of change events as SQL: the one row per key that _resolve_ctes() leaves, compared with the state before. Which becomes what:
    docs/operations.md, change events.

    A truncate deletes every key that nothing was applied to after it. Two different events at one place are rejected
    (R), and so are events with a note. Rules are judged on the row that a key ends with; one that is set aside leaves the key as it was.
    Arguments: run (entity, load, prior, broadcast: see _tag_sql()), events (relation with the columns of _event_columns()), summary (of
    _event_summary()). Returns a query whose columns are the ledger's, in its order. -#}
{%- macro _tag_events_sql(run, events, summary) -%}
{%- set entity, load = run.entity, run.load -%}
{%- set start = spark_cdc._load_start(run) -%}
{%- set has_prior = load.base is not none -%}
{%- set missing = spark_cdc._missing_of(entity, summary) -%}
{%- set moves = spark_cdc._keys_move(entity, summary) -%}
{%- set gives_up = has_prior and (summary.deletes or moves) -%}
{%- set keeps = has_prior and (load.is_checkpoint or summary.truncates) -%}
{%- set source = 'named' if summary.alternates else events -%}
{%- set by_last = summary.get('by_last', false) -%}
{%- set rules = entity.rules -%}
{%- set sets_aside = spark_cdc._rule_is_broken(rules, ['drop', 'fail'], 'step__rule_bits') -%}
{%- set of_keys = 'select key_hash from last where step__place is not null' if by_last else spark_cdc._event_keys_sql(source, moves) -%}
with
{% if summary.alternates %}
{{ spark_cdc._named_ctes(run, events) }},
{% endif %}
{%- if by_last %}
{{ spark_cdc._last_ctes(entity, events) }},
{% endif %}
{%- if has_prior %}
prior as (
    {{ spark_cdc._rows_before_sql(
        run, of_keys, 0 if by_last else summary.event_count,
        spark_cdc._payload_hashes(entity) + ['eff_start_date', 'event_position', 'operation'] + missing | map(attribute='sql') | list
    ) | indent(4) }}
),
{% if gives_up %}
-- the payload of rows that may be deleted, which are few
given_up as (
    {{ spark_cdc._rows_before_sql(
        run, spark_cdc._event_keys_sql(source, moves, "event_op = 'delete' and "), summary.get('given_up'),
        ['key_hash'] + entity.stored | map(attribute='sql') | list) | indent(4) }}
),
{% endif %}
{%- endif %}
{{ spark_cdc._last_ctes_resolved(entity, events) if by_last else spark_cdc._resolve_ctes(entity, source, summary, 'prior' if has_prior else none) }},

matched as (
    select{{ ' /*+ broadcast(prior) */' if by_last and has_prior }}
        resolved.key_hash,
        resolved.event_position,
        resolved.step__is_alive,
        resolved.step__is_conflict,
        {% for column in entity.key_columns -%}
        resolved.{{ column.sql }},
        {% endfor -%}
        {%- for column in entity.stored if column.role != 'key' -%}
        {%- set filled = 'resolved.' ~ spark_cdc._quote('filled__' ~ column.name) -%}
        {%- if column not in missing -%}
        resolved.{{ column.sql }},
        {% elif not has_prior -%}
        {{ filled }}.value as {{ column.sql }},
        {% elif moves -%}
        if({{ filled }} is null, root.{{ column.sql }}, {{ filled }}.value) as {{ column.sql }},
        {% else -%}
        if({{ filled }} is null, {# -#}
        if({{ spark_cdc._is_alive('prior', summary.truncated) }}, prior.{{ column.sql }}, null), {{ filled }}.value) as {{ column.sql }},
        {% endif -%}
        {%- endfor %}
        {%- if gives_up -%}
        {%- for column in entity.stored -%}
        given_up.{{ column.sql }} as {{ spark_cdc._prior_name(column) }},
        {% endfor -%}
        {%- endif %}
        {%- if has_prior -%}
        prior.nonkey_hash as step__prior_nonkey_hash,
        {%- if entity.ignored %}
        prior.ignored_hash as step__prior_ignored_hash,
        {%- endif %}
        prior.eff_start_date as step__prior_start_date,
        coalesce(prior.operation not in ('D', 'T'), false) as step__was_alive
        {%- else -%}
        false as step__was_alive
        {%- endif %}
    from resolved
    {%- if has_prior %}
    left join prior
        on resolved.key_hash = prior.key_hash
    {%- if missing and moves %}
    left join prior as root
        on resolved.step__root_key_hash = root.key_hash and {{ spark_cdc._is_alive('root', summary.truncated) }}
    {%- endif %}
    {%- if gives_up %}
    left join given_up
        on resolved.key_hash = given_up.key_hash and not resolved.step__is_alive
    {%- endif %}
    {%- if not (summary.late_possible or moves) %}
    where prior.event_position is null or resolved.event_position > prior.event_position
    {%- endif %}
    {%- endif %}
),

hashed as (
    select
        *,
        {{ spark_cdc._hash(entity.compared) | indent(8) }} as nonkey_hash
        {%- if entity.ignored %},
        {{ spark_cdc._hash(entity.ignored) | indent(8) }} as ignored_hash
        {%- endif %}
        {%- if rules %},
        {{ spark_cdc._rule_bits(rules, 'step__is_alive and not step__is_conflict') | indent(8) }} as step__rule_bits
        {%- endif %}
    from matched
),

judged as (
    select
        *,
        case
            when step__is_conflict{{ ' or ' ~ sets_aside if sets_aside }} then 'R'
            when step__is_alive and not step__was_alive then 'I'
            {%- if has_prior %}
            when step__is_alive and nonkey_hash <> step__prior_nonkey_hash then 'U'
            when step__is_alive then 'N'
            when step__was_alive then 'D'
            {%- endif %}
            else 'T'
        end as operation
    from hashed
),

tagged as (
    select
        {% for column in entity.stored -%}
        {%- if gives_up -%}
        if(operation = 'D', {{ spark_cdc._prior_name(column) }}, {{ column.sql }}) as {{ column.sql }},
        {% else -%}
        {{ column.sql }},
        {% endif -%}
        {% endfor -%}
        key_hash,
        {{ "if(operation = 'D', step__prior_nonkey_hash, nonkey_hash) as nonkey_hash" if has_prior else 'nonkey_hash' }},
        {%- if entity.ignored %}
        {{ "if(operation = 'D', step__prior_ignored_hash, ignored_hash) as ignored_hash" if has_prior else 'ignored_hash' }},
        {%- endif %}
        {{ "if(operation = 'N', step__prior_start_date, " ~ start ~ ')' if has_prior else start }} as eff_start_date,
        event_position,
        {{ spark_cdc._tagged_event_note(entity) | indent(8) }} as note,
        {{ spark_cdc._partition(load) | indent(8) }},
        operation
    from judged
)
{%- if keeps %},

{{ spark_cdc._untouched_cte(run, summary) }}
{%- endif %}
{%- if summary.rejected %},

rejected as (
    select
        {% for column in entity.stored -%}
        {{ column.sql }},
        {% endfor -%}
        key_hash,
        cast(null as binary) as nonkey_hash,
        {%- if entity.ignored %}
        cast(null as binary) as ignored_hash,
        {%- endif %}
        {{ start }} as eff_start_date,
        event_position,
        note,
        {{ spark_cdc._partition(load) | indent(8) }},
        'R' as operation
    from {{ events }}
    where note is not null
)
{%- endif %}

select * from tagged
{%- for name, wanted in [('untouched', keeps), ('rejected', summary.rejected)] if wanted %}
union all
select * from {{ name }}
{%- endfor %}
{%- endmacro -%}


{#- The note on the row that a key ends with: JSON where it is set aside, since another event stands at its place or a rule says so; the names of the rules
    that warn of it. -#}
{%- macro _tagged_event_note(entity) -%}
{%- set rules, bits = entity.rules, 'step__rule_bits' -%}
case
    when step__is_conflict
        then to_json(named_struct(
            'kind', 'tied_events',
            'columns', cast(array() as array<string>),
            'reasons', array({{ spark_cdc._literal('another, different event of the same key has the same position: ' ~ spark_cdc._tie_advice(entity)) }}),
            'row', named_struct(
                {%- for column in entity.key_columns %}
                {{ spark_cdc._literal(column.name) }}, {{ column.sql }},
                {%- endfor %}
                'position', event_position
            )
        ))
    {%- if spark_cdc._rule_mask(rules, ['drop', 'fail']) %}
    when operation = 'R'
        then to_json(named_struct(
            'kind', if({{ spark_cdc._rule_is_broken(rules, ['fail'], bits) or 'false' }}, 'failed_rules', 'dropped_rows'),
            'columns', cast(array() as array<string>),
            'reasons', array_compact(array({{ spark_cdc._rule_reasons(rules, bits) | join(', ') }})),
            'rules', {{ spark_cdc._rule_names(rules, bits) | indent(12) }},
            'row', named_struct(
                {%- for column in entity.stored %}
                {{ spark_cdc._literal(column.name) }}, {{ column.sql }}{{ ',' if not loop.last }}
                {%- endfor %}
            )
        ))
    {%- endif %}
    {%- if spark_cdc._rule_mask(rules, ['warn']) %}
    else {{ spark_cdc._rule_warnings(rules, bits) | indent(4) }}
    {%- endif %}
end
{%- endmacro -%}


{#- A column with the value that a deleted row had before the load. -#}
{%- macro _prior_name(column) -%}`prior__{{ column.sql.strip('`') }}`{%- endmacro -%}


{#- The keys that the events of a load name, as they are now and, where keys move, as they were. -#}
{%- macro _event_keys_sql(events, moves, condition='') -%}
select key_hash from {{ events }} where {{ condition }}key_hash is not null
{%- if moves %}
union all
select old_key_hash from {{ events }} where old_key_hash is not null
{%- endif %}
{%- endmacro -%}
