{#- Tagging as SQL: each row of a load compared with the state before it. Which becomes what: docs/operations.md, full loads and deltas.
    A row with a note is rejected (R); one that breaks a rule that only warns has the rule's name as its note, and where it is not written otherwise,
    a mark is written of it (W). Where rejected rows are set aside (entity.quarantine), their keys stay as they were: X in a delta, and in a full load by what
    _hold_sql() adds. Unchanged rows that a full load does not write (S) leave a mark, their key, where it writes what is gone apart (load.deletes_apart), for
    _deleted_sql(). Nothing is read from the catalogue.
    Arguments: run (entity, load, prior: relation or CTE with the ledger's columns, broadcast: whether the keys of the loads since the
    checkpoint are few), incoming (relation or CTE with the columns of _stage_sql()). Returns a query whose columns are the ledger's, in its
    order. -#}
{%- macro _tag_sql(run, incoming) -%}
{%- set is_full = run.load.load_type == 'full' -%}
{#- a row that a full snapshot flags as deleted is as good as missing -#}
{%- set flags_deletes = run.entity.deleted_when and not is_full -%}
{%- set incoming = '(select * from ' ~ incoming ~ ' where note is not null or not is_deleted)' if run.entity.deleted_when and is_full else incoming -%}
{%- if run.load.base is none -%}
{{ spark_cdc._tag_first_sql(run, incoming, flags_deletes) }}
{%- else -%}
{%- set entity, load = run.entity, run.load -%}
{%- set start = spark_cdc._load_start(run) -%}
{%- set writes_unchanged = not is_full or load.is_checkpoint -%}
{%- set asks_ignored = entity.ignored | length > 0 and not writes_unchanged -%}
{%- set marks_unchanged = load.get('deletes_apart') and not writes_unchanged -%}
{%- set deletes = is_full and not load.get('deletes_apart') or flags_deletes -%}
{%- set carries_over = load.is_checkpoint and not is_full -%}
{%- set warns = spark_cdc._rule_mask(entity.rules, ['warn']) > 0 -%}
{%- set marks = (['S'] if marks_unchanged else []) + (['W'] if warns and not writes_unchanged else []) -%}
with prior as (
    {{ (spark_cdc._prior_sql(run) if is_full
        else spark_cdc._prior_of_sql(run, incoming, spark_cdc._payload_hashes(entity) + ['eff_start_date'])) | indent(4) }}
),

{# where the prior hashes are few enough to be broadcast, the payload that came in stays where it was read -#}
compared as (
    select{{ ' /*+ broadcast(prior) */' if is_full and load.prior_rows <= entity.checkpoint.rows }}
        incoming.*,
        case
            when incoming.note is not null then 'R'
            {%- if flags_deletes %}
            when incoming.is_deleted and prior.key_hash is null then 'T'
            when incoming.is_deleted then 'D'
            {%- endif %}
            when prior.key_hash is null then 'I'
            when incoming.nonkey_hash <> prior.nonkey_hash then 'U'
            {%- if asks_ignored %}
            when not incoming.ignored_hash <=> prior.ignored_hash then 'N'
            {%- endif %}
            {%- if 'W' in marks %}
            when incoming.broken_rules is not null then 'W'
            {%- endif %}
            else '{{ 'N' if writes_unchanged else 'S' }}'
        end as operation,
        prior.eff_start_date
    from {{ incoming }} as incoming
    left join prior
        on incoming.key_hash = prior.key_hash
),

tagged as (
    {%- set is_mark = "operation = '" ~ marks | first ~ "'" if marks | length == 1 else "operation in ('S', 'W')" %}
    select
        {% for column in spark_cdc._payload(entity) -%}
        {{ spark_cdc._aliased('if(' ~ is_mark ~ ', null, ' ~ column ~ ')', column) if marks and column != 'key_hash' else column }},
        {% endfor -%}
        {{ "if(operation = 'N', eff_start_date, " ~ start ~ ')' if writes_unchanged or asks_ignored else start }} as eff_start_date,
        {{ spark_cdc._rule_noted(entity) }},
        {{ spark_cdc._partition(load) | indent(8) }},
        operation
    from compared
    {%- if not writes_unchanged and not marks_unchanged %}
    where operation <> 'S'
    {%- elif flags_deletes %}
    where operation <> 'D'
    {%- endif %}
)
{%- if deletes and is_full %},

deleted as (
    select
        {{ spark_cdc._kept_row(run, 'prior', 'D', start) | indent(8) }}
    from prior
    left anti join {{ incoming }} as incoming
        on prior.key_hash = incoming.key_hash
)
{%- elif deletes %},

-- the rows that a delta deletes, as they were: their payload is read in a pass of its own, which Spark leaves out where nothing is flagged
deleted as (
    select
        {{ spark_cdc._kept_row(run, 'prior', 'D', start) | indent(8) }}
    from {{ incoming }} as incoming
    inner join (
        {{ spark_cdc._prior_of_sql(run, incoming, spark_cdc._payload(entity), 'is_deleted') | indent(8) }}
    ) as prior
        on incoming.key_hash = prior.key_hash
    where incoming.is_deleted{{ ' and incoming.note is null' if entity.quarantine }}
)
{%- endif %}
{%- if carries_over %},

carried_over as (
    select
        {{ spark_cdc._kept_row(run, 'carried', 'X') | indent(8) }}
    from (
        {{ spark_cdc._prior_sql(run) | indent(8) }}
    ) as carried
    left anti join {{ ('(select key_hash from ' ~ incoming ~ ' where note is null)') if entity.quarantine else incoming }} as incoming
        on carried.key_hash = incoming.key_hash
)
{%- endif %}

select * from tagged
{%- for name, wanted in [('deleted', deletes), ('carried_over', carries_over)] if wanted %}
union all
select * from {{ name }}
{%- endfor %}
{%- endif -%}
{%- endmacro -%}


{%- macro _tag_first_sql(run, incoming, flags_deletes) -%}
-- the first load: there is no state before it
select
    {{ spark_cdc._payload(run.entity) | join(',\n    ') }},
    {{ spark_cdc._load_start(run) }} as eff_start_date,
    {{ spark_cdc._rule_noted(run.entity) }},
    {{ spark_cdc._partition(run.load) | indent(4) }},
    case when note is not null then 'R' {{ "when is_deleted then 'T' else 'I'" if flags_deletes else "else 'I'" }} end as operation
from {{ incoming }}{{ ' as incoming' if (incoming | string).startswith('(') }}
{%- endmacro -%}
