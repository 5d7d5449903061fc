{#- Staging as SQL: one pass over what landed, which renames, casts, judges and hashes each row.
    Arguments: entity (dictionary of _entity()), landed (relation or name with the columns of the source and
    `landing_problem`). Returns a query with the stored columns in declared order, key_hash, nonkey_hash,
    ignored_hash (only with ignored columns), is_deleted (deltas with deleted_when) and note: null, or for a
    rejected row the JSON text of _reject_note(). key_hash hangs on the key columns alone (null if one of them is), so that
    looking for the keys of a load reads nothing else. Where keys that come more than once are set aside, all their rows are
    rejected: they are found by one more read of the key columns. Where the entity has rules that warn, broken_rules: the names of those that the row breaks
    (_rule_warnings()). carried: names of further columns of `landed` that the query has, too. Rows of forgotten keys have no sensitive values. -#}
{%- macro _stage_sql(entity, landed, carried=[]) -%}
    {%- set names = entity.stored | map(attribute='name') | list + ['key_hash', 'nonkey_hash'] + (['ignored_hash'] if entity.ignored else [])
        + (['is_deleted'] if entity.deleted_when is not none else []) + carried + ['note']
        + (['broken_rules'] if spark_cdc._rule_mask(entity.rules, ['warn']) else []) -%}
    {{ return(spark_cdc._forgotten_staged_rows_sql(entity, spark_cdc._staged_rows_sql(entity, landed, carried), names)) }}
{%- endmacro -%}


{%- macro _staged_rows_sql(entity, landed, carried) -%}
{%- set drops_repeated = 'duplicate_keys' in entity.quarantine -%}
{%- set has_deletes = entity.deleted_when is not none -%}
{%- set rules = entity.rules -%}
{%- set sets_aside = spark_cdc._rule_is_broken(rules, ['drop', 'fail']) -%}
{%- set key_hash = spark_cdc._hash_unless(spark_cdc._any_null(entity.key_columns), entity.key_columns) -%}
{{ spark_cdc._cast_columns_ctes(entity, landed, 'typed', carried) }},

flagged as (
    select
        *,
        {{ 'coalesce(' ~ entity.deleted_when ~ ', false)' if has_deletes else 'false' }} as is_deleted
    from typed
),

judged as (
    select
        *,
        landing_problem is not null
        {%- for fault in spark_cdc._reject_faults(entity) %}
        or ({{ fault.condition }})
        {%- endfor %} as is_rejected
    from flagged
)
{%- if rules %},

ruled as (
    select
        *,
        {{ spark_cdc._rule_bits(rules, 'not is_rejected and not is_deleted') | indent(8) }} as rule_bits
    from judged
)
{%- endif %}
{%- if drops_repeated %},

keyed as (
    select
        *,
        {{ key_hash | indent(8) }} as key_hash
    from {{ 'ruled' if rules else 'judged' }}
),

repeated as (
    select
        key_hash as repeated_key_hash,
        count(*) as repeated_rows
    from keyed
    where key_hash is not null
    group by key_hash
    having count(*) > 1
)
{%- endif %}

select
    {% for column in entity.stored -%}
    {{ column.sql }},
    {% endfor -%}
    {{- 'key_hash' if drops_repeated else key_hash | indent(4) ~ ' as key_hash' }},
    {{ spark_cdc._hash(entity.compared) | indent(4) }} as nonkey_hash,
    {%- if entity.ignored %}
    {{ spark_cdc._hash(entity.ignored) | indent(4) }} as ignored_hash,
    {%- endif %}
    {%- if has_deletes %}
    is_deleted,
    {%- endif %}
    {%- for column in carried %}
    {{ column }},
    {%- endfor %}
    if(
        is_rejected{{ ' or repeated_key_hash is not null' if drops_repeated }}{{ ' or ' ~ sets_aside if sets_aside }},
        {{ spark_cdc._reject_note(entity) | indent(8) }},
        null
    ) as note
    {%- if spark_cdc._rule_mask(rules, ['warn']) %},
    {{ spark_cdc._rule_warnings(rules) | indent(4) }} as broken_rules
    {%- endif %}
from {{ 'keyed' if drops_repeated else 'ruled' if rules else 'judged' }}
{%- if drops_repeated %}
left join repeated
    on keyed.key_hash = repeated.repeated_key_hash
{%- endif %}
{%- endmacro -%}
