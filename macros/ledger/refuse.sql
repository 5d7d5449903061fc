{#- Refuses a load: logs the message, adds the load to cdc_loads as refused, then raises the
    message. Arguments: entity, guard (what refused it, several with commas between), message,
    load (of _plan_load(); else it is planned anew), audit (what is known of _audit_load()'s
    figures). -#}
{%- macro _refuse_load(entity, guard, message, load=none, audit=none) -%}
    {#- of what is no text, a character for each run: a terminal might take it for commands -#}
    {%- set shown = [] -%}
    {%- for sign in message -%}
        {%- set is_text = sign in '\t\n' or (sign >= ' ' and sign < '\u007f') or (sign > '\u009f' and sign != '\ufffd') -%}
        {%- do shown.append(sign if is_text else '\ufffd') if is_text or shown[-1:] != ['\ufffd'] -%}
    {%- endfor -%}
    {%- set message = shown | join -%}
    {%- set load_log = spark_cdc._load_log() -%}
    {%- set refusal = {'guard': guard, 'message': message} -%}
    {%- if spark_cdc._mode() == 'plan' -%}
        {%- do spark_cdc._print_data([{'entity': entity.name, 'plan': spark_cdc._plan_of_load(entity, load, audit or {}, refusal=refusal)}]) -%}
    {%- endif -%}
    {%- if load_log is not none and spark_cdc._mode() in ['load', 'operate'] -%}
        {%- do log(message) -%}
        {%- do spark_cdc._ensure_load_log(load_log) -%}
        {%- do spark_cdc._write_log(spark_cdc._write_target(load_log), entity, [{
            'load': load or spark_cdc._planned_run(spark_cdc._context_of_model()).load, 'audit': audit or {}, 'refusal': refusal,
        }]) -%}
    {%- endif -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}


{#- Refuses a load in which keys come more than once. Arguments: run, known (figures of the
    audit), what (how many keys come), examples (of _repeated_keys_sql()). -#}
{%- macro _refuse_duplicates(run, known, what, examples) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- set message -%}
{{ entity.name }}: {{ what }} more than once in {{ load.business_time }}; a {{ load.load_type }} load takes one row per key (key: {# -#}
{{ entity.key_columns | map(attribute='name') | join(', ') }}). Examples:
    - {{ spark_cdc._key_lines(entity, examples) | join('\n    - ') }}
Nothing was committed. Correct the data, or the columns with the role key in stg_{{ entity.name }}, and run the same command again. {# -#}
To reject all rows of these keys this once (always: on_duplicate_key: quarantine):
  {{ spark_cdc._skip_command(entity, load, ['duplicate_keys']) }}
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, 'duplicate_keys', message, load, known) -%}
{%- endmacro -%}


{#- Rejected rows stop a load unless their kind, which their note says, is set aside
    (entity.quarantine). Two different events at one place do in any case: which of them holds
    nobody knows, and earlier events of the key are not applied either. -#}
{%- macro _check_rejects(run, known) -%}
    {%- set entity, ledger, load = run.entity, run.ledger, run.load -%}
    {%- set sql -%}
select
    get_json_object(cdc__note, '$.kind') as kind,
    count(*) as row_count
from {{ ledger }}
where load_id = '{{ load.load_id }}' and operation = 'R'
group by kind
order by kind desc
    {%- endset -%}
    {%- set found = spark_cdc._query(sql) | rejectattr('kind', 'in', entity.quarantine) | list -%}
    {%- if not found -%}{{ return('') }}{%- endif -%}
    {%- set found = found | selectattr('kind', 'equalto', 'tied_events') | list or found -%}
    {%- set kinds = found | map(attribute='kind') | list -%}
    {%- set lines = spark_cdc._tied_lines(run, known.record) if kinds == ['tied_events'] else spark_cdc._reject_lines(entity, ledger, load, kinds) -%}
    {%- set message -%}
{{ entity.name }}: {{ spark_cdc._counted(found | map(attribute='row_count') | map('int') | sum, 'row') }} of {{ load.business_time }} can't be {# -#}
accepted as declared in stg_{{ entity.name }}; {{ lines | length }} of them:
    - {{ lines | join('\n    - ') }}
Nothing was committed. Correct the data or the types, and run the same command again.
{%- if spark_cdc._mode() != 'plan' %} The rejected rows are in {{ ledger }} where load_id = '{{ load.load_id }}' and operation = 'R'.{% endif -%}
{%- if kinds != ['tied_events'] %} To reject them this once (always: {# -#}
{{ {'failed_rules': "action: drop of the rule", 'duplicate_keys': 'on_duplicate_key: quarantine'}.get(kinds | join, 'on_reject: quarantine') }}):
  {{ spark_cdc._skip_command(entity, load, kinds) }}
{%- endif -%}
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, kinds | join(', '), message, load, known) -%}
{%- endmacro -%}


{#- Keys, but for sensitive ones, and, where it is known, how often they came, a line each. -#}
{%- macro _key_lines(entity, examples) -%}
    {%- set lines = [] -%}
    {%- for example in examples -%}
        {%- set values = [] -%}
        {%- for column in entity.key_columns -%}{%- do values.append(column.name ~ (' (sensitive)' if column.sensitive else ' = ' ~ example[column.name])) -%}{%- endfor -%}
        {%- do lines.append(values | join(', ') ~ (' (' ~ example.row_count ~ ' rows)' if 'row_count' in example else '')) -%}
    {%- endfor -%}
    {{ return(lines) }}
{%- endmacro -%}


{#- Rejected rows of some kinds, what is wrong with them and how they came in, for a message.
    Returns a list of texts. `stack` keeps the kind from being asked further down: in a plan the
    ledger is a view, and Spark, putting the expressions behind `cdc__note` in its place again and
    again, does not come to an end with entities of some columns. Of an entity with sensitive
    columns no value is shown: it may stand in the wrong place. A row may be longer than Thrift
    carries, so it is cut on the server. -#}
{%- macro _reject_lines(entity, ledger, load, kinds) -%}
    {%- set sql -%}
select
    get_json_object(cdc__rejected, '$.columns') as columns,
    left(array_join(from_json(get_json_object(cdc__rejected, '$.reasons'), 'array<string>'), '; '), 2000) as reasons,
    left(get_json_object(cdc__rejected, '$.row'), 4000) as shown
from {{ ledger }}
lateral view stack(1, cdc__note) as cdc__rejected
where load_id = '{{ load.load_id }}' and operation = 'R' and get_json_object(cdc__rejected, '$.kind') in ({{ spark_cdc._literals(kinds) }})
limit 5
    {%- endset -%}
    {%- set lines = [] -%}
    {%- for example in spark_cdc._query(sql) -%}
        {%- set row = fromjson(example.shown or '', none) -%}
        {%- do lines.append('not accepted: ' ~ fromjson(example.columns or '[]') | join(', ') ~ '; ' ~ spark_cdc._restricted_values_text() if entity.sensitive
            else (example.reasons or '') ~ '\n      in ' ~ (spark_cdc._shown_json(row) if row else example.shown or 'a row that is too long to be shown')[:300]) -%}
    {%- endfor -%}
    {{ return(lines) }}
{%- endmacro -%}


{#- Events of which several, different ones, have one position: all of them as they were read,
    for a message. Returns a list of texts. -#}
{%- macro _tied_lines(run, record) -%}
    {%- set entity, load = spark_cdc._entity_of_change_feed(run.entity, record.get('feed')), run.load -%}
    {%- set events = spark_cdc._laid_out(
        entity, run.events, load.layout, spark_cdc._event_columns(entity, load.layout), "load_id = '" ~ load.load_id ~ "'") -%}
    {%- if record.get('read_again') -%}
        {%- do spark_cdc._land_load(entity, spark_cdc._landing_source(entity), run.time) -%}
        {%- do spark_cdc._set_for_staging() -%}
        {%- do spark_cdc._create_read_again_view(entity, load, is_accepted=true) -%}
        {%- set events = spark_cdc._read_again_view(entity) -%}
    {%- endif -%}
    {%- set sql -%}
select
    cast(events.event_position as string) as place,
    left(array_join(sort_array(collect_set(to_json(struct(
        events.event_op as operation
        {%- for column in entity.stored %}, events.{{ column.sql }}{% endfor %}
    )))), '\n      '), 1000) as shown
from {{ events }} as events
inner join (
    select distinct
        key_hash,
        event_position
    from {{ run.ledger }}
    where load_id = '{{ load.load_id }}' and operation = 'R' and get_json_object(cdc__note, '$.kind') = 'tied_events'
    limit 3
) as tied
    on events.key_hash = tied.key_hash and events.event_position = tied.event_position
group by events.key_hash, events.event_position
    {%- endset -%}
    {%- set lines = [] -%}
    {%- if entity.sensitive -%}{{ return(spark_cdc._reject_lines(entity, run.ledger, load, ['tied_events'])) }}{%- endif -%}
    {%- for tied in spark_cdc._query(sql) -%}
        {%- do lines.append('different events of one key have the position ' ~ tied.place ~ ': ' ~ spark_cdc._tie_advice(entity) ~ '\n      ' ~ tied.shown) -%}
    {%- endfor -%}
    {#- what is not there under its own key any more, after a change of keys, is shown as the
        ledger has it -#}
    {{ return(lines or spark_cdc._reject_lines(run.entity, run.ledger, load, ['tied_events'])) }}
{%- endmacro -%}


{#- How many keys come more than once among the rows that a load has written, up to 1000: a row
    as of _input_sql(), looked at on the narrow hash column; of several loads a row with the
    row_count of each. A rejected row counts, too, beside one that was accepted; of change events
    it is one event of several. Arguments: run (of _planned_run()), loads (their names). -#}
{%- macro _repeats_sql(run, loads) -%}
{%- set several = loads | length > 1 -%}
select
    {{ 'load_id' if several else 'cast(null as string) as load_id' }},
    'repeated' as operation,
    {{ 'count(*)' if several else 0 }} as row_count,
    cast({{ 'null' if several else 'count(*)' }} as string) as note
from (
    select {{ 'load_id, ' if several }}key_hash
    from {{ run.ledger }}
    where {{ spark_cdc._in_loads(loads) }} and operation in {{ spark_cdc._operations('supplied' if run.entity.events else 'received') }} and key_hash is not null
    group by {{ 'load_id, ' if several }}key_hash
    having count(*) > 1 and max(operation <> 'R')
    {{- '\n    limit 1000' if not several }}
)
{{- '\ngroup by load_id' if several }}
{%- endmacro -%}


{#- Some keys that come more than once, for a message. Arguments: entity, rows (what follows
    `from`), also (a further condition of groups). -#}
{%- macro _repeated_keys_sql(entity, rows, also='') -%}
{%- set keys = entity.key_columns | map(attribute='sql') | join(', ') -%}
select
    {{ keys }},
    count(*) as row_count
from {{ rows }}
group by {{ keys }}
having count(*) > 1{{ ' ' ~ also if also }}
limit 5
{%- endmacro -%}
