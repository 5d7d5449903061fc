{#- The name of a load: business date or time, kind, and eight characters of dbt's invocation id,
    which make it unique to the attempt. The kind is f (full), d (delta), e (events) or s (a full
    snapshot among events), with a c behind it if the load is a checkpoint; h and hc are what
    compact wrote. Names sort by business time. Example: 20190619-fc-1b2c3d4e. -#}
{%- macro _load_id(entity, time, is_checkpoint) -%}
    {%- set clock = time.strftime('T%H%M%S') -%}
    {%- set stamp = time.strftime('%Y%m%d') ~ ('' if clock == 'T000000' else clock) -%}
    {{ return(stamp ~ '-' ~ ('s' if entity.events and entity.load_type == 'full' else entity.load_type[0]) ~ ('c' if is_checkpoint else '') ~ '-' ~ spark_cdc._run_id8()) }}
{%- endmacro -%}


{#- What a load's name says of it. Returns a dictionary: is_full, is_snapshot (full, among
    events), is_checkpoint, is_squashed (compact wrote it), is_history (it holds the history of
    the loads that compact squashed into it). -#}
{%- macro _load_kind(load_id) -%}
    {%- set kind = load_id.split('-')[1] -%}
    {{ return({
        'is_full': kind.startswith('f'),
        'is_snapshot': kind.startswith('s'),
        'is_checkpoint': kind.endswith('c'),
        'is_squashed': kind.startswith('h'),
        'is_history': kind == 'h',
    }) }}
{%- endmacro -%}


{#- What loads say of themselves in the ledger (their L rows): a dictionary by load id. -#}
{%- macro _load_records(ledger, loads) -%}
    {%- set sql -%}
select
    load_id,
    note
from {{ ledger }}
where
    {{ spark_cdc._in_loads(loads) }}
    and operation = 'L'
    {%- endset -%}
    {%- set records = {} -%}
    {%- for row in (spark_cdc._query(sql) if loads else []) -%}{%- do records.update({row.load_id: fromjson(row.note)}) -%}{%- endfor -%}
    {{ return(records) }}
{%- endmacro -%}


{#- The business time in a load's name, as a datetime. -#}
{%- macro _load_time(load_id) -%}
    {%- set stamp = load_id.split('-')[0] -%}
    {{ return(modules.datetime.datetime.strptime(stamp, '%Y%m%dT%H%M%S' if 'T' in stamp else '%Y%m%d')) }}
{%- endmacro -%}


{#- The same as text, as messages and commands have it. -#}
{%- macro _load_time_text(entity, load_id) -%}{{ return(spark_cdc._time_text(entity, spark_cdc._load_time(load_id))) }}{%- endmacro -%}


{#- The business times of loads, as texts. -#}
{%- macro _load_times(entity, loads) -%}
    {%- set times = [] -%}
    {%- for load_id in loads -%}{%- do times.append(spark_cdc._load_time_text(entity, load_id)) -%}{%- endfor -%}
    {{ return(times) }}
{%- endmacro -%}


{#- The business time in a load's name, as an expression of the type of eff_start_date. -#}
{%- macro _load_time_sql(entity, name) -%}
    {%- if entity.eff_type == 'date' -%}
        {{ return('to_date(substr(' ~ name ~ ", 1, 8), 'yyyyMMdd')") }}
    {%- endif -%}
    {%- set stamp = "replace(rpad(split_part(" ~ name ~ ", '-', 1), 15, 'T000000'), 'T', '')" -%}
    {{ return('to_timestamp_ntz(' ~ stamp ~ ", 'yyyyMMddHHmmss')") }}
{%- endmacro -%}


{#- What loads wrote, as far as file footers tell, and what some of them say of themselves.
    Arguments: ledger (relation), loads (whose rows are counted), recorded (whose records are
    read), also (queries to be asked in the same statement, or none, with columns as of
    _input_sql()). Returns a dictionary: rows (load id to operation to number of rows), records
    (load id to record), rules (load id to rule to number of rows that break it, where asked for
    by _rule_counts_sql()), and also (name to note, of the further queries). -#}
{%- macro _load_counts(ledger, loads, recorded, also=[]) -%}
    {%- set rows, records, rules, further = {}, {}, {}, {} -%}
    {%- set sql = ([spark_cdc._load_counts_sql(ledger, loads, recorded)] + also | select | list) | join('\n\nunion all\n\n') -%}
    {%- for row in spark_cdc._query(sql) -%}
        {%- if row.load_id is none -%}
            {%- do further.update({row.operation: fromjson(row.note)}) -%}
        {%- elif row.operation == 'rules' -%}
            {%- do rules.update({row.load_id: fromjson(row.note)}) -%}
        {%- else -%}
            {%- set of_load = rows.setdefault(row.load_id, {}) -%}
            {%- do of_load.update({row.operation: of_load.get(row.operation, 0) + row.row_count | int}) -%}
            {%- if row.operation == 'L' -%}{%- do records.update({row.load_id: fromjson(row.note)}) -%}{%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return({'rows': rows, 'records': records, 'rules': rules, 'also': further}) }}
{%- endmacro -%}


{%- macro _load_counts_sql(ledger, loads, recorded) -%}
select
    load_id,
    operation,
    count(*) as row_count,
    cast(null as string) as note
from {{ ledger }}
where
    {{ spark_cdc._in_loads(loads) }}
    and operation <> 'L'
group by load_id, operation

union all

select
    load_id,
    operation,
    1 as row_count,
    note
from {{ ledger }}
where {{ spark_cdc._in_loads(recorded) }} and operation = 'L'
{%- endmacro -%}


{#- Loads that compact has squashed are listed by their own names, in the place of what stands
    for them. -#}
{%- macro _loads_by_date(ledger, loads) -%}
    {%- set records = spark_cdc._load_records(ledger, spark_cdc._loads_with(loads, 'is_history')) -%}
    {%- set listed = [] -%}
    {%- for load_id in loads -%}
        {%- set kind = spark_cdc._load_kind(load_id) -%}
        {%- do listed.extend(records[load_id].squashed if kind.is_history else [] if kind.is_squashed else [load_id]) -%}
    {%- endfor -%}
    {{ return(listed) }}
{%- endmacro -%}


{#- The first loads of a list: those that make up the state after one of them, or at the end of a
    date. Loads that compact squashed come and go together. Arguments: capture, loads (oldest
    first), to (load, or date as text or as YAML reads it; none for all but the last; an empty
    text for none of them). Returns a dictionary: loads, problem (why there is no such state, a
    text, or none). -#}
{%- macro _loads_up_to(capture, loads, to) -%}
    {%- set entity, text = capture.entity, to | string | trim -%}
    {%- set is_load = modules.re.fullmatch('[0-9]{8}(?:T[0-9]{6})?-[a-z]+-[0-9a-f]{8}', text) -%}
    {%- set time = spark_cdc._business_time(text) -%}
    {%- if to is none -%}
        {%- set kept = loads[:-1] -%}
    {%- elif not text -%}
        {%- set kept = [] -%}
    {%- elif is_load and text in loads -%}
        {%- set kept = loads[:loads.index(text) + (2 if spark_cdc._load_kind(text).is_history else 1)] -%}
    {%- elif is_load or time is none -%}
        {%- set problem -%}
{{ entity.name }}: '{{ text }}' is {{ 'no load that counts' if is_load else 'no load and no date that exists' }}. Accepted are loads {# -#}
of the view {{ entity.name }}_committed ({{ loads[-3:] | join(', ') }}) and dates such as {{ spark_cdc._load_time_text(entity, loads[-1]) }}.
        {%- endset -%}
        {{ return({'loads': [], 'problem': problem}) }}
    {%- else -%}
        {#- a date without a time of day means all of that day -#}
        {%- set end = time + modules.datetime.timedelta(days=1) if text | length == 10 else time + modules.datetime.timedelta(seconds=1) -%}
        {%- set kept = spark_cdc._loads_with(loads, 'time', 'lt', end) -%}
    {%- endif -%}
    {%- set cut = loads[kept | length:][:1] -%}
    {%- set is_cut = cut and spark_cdc._load_kind(cut[0]).is_squashed -%}
    {%- if is_cut -%}
        {%- set squashed = kept[-1] if not spark_cdc._load_kind(cut[0]).is_history else cut[0] -%}
        {%- set first = spark_cdc._loads_by_date(capture.masked, [squashed])[0] -%}
        {%- if squashed in kept or (end is defined and spark_cdc._load_time(first) < end) -%}
            {%- set problem -%}
{{ entity.name }}: compact has squashed the loads from {{ spark_cdc._load_time_text(entity, first) }} to {# -#}
{{ spark_cdc._load_time_text(entity, squashed) }} into one: there is no state {{ 'at ' ~ text if text and to is not none else 'before the last of them' }}. {# -#}
Accepted are dates before the first of them, and from the last one on.
            {%- endset -%}
            {{ return({'loads': [], 'problem': problem}) }}
        {%- endif -%}
    {%- endif -%}
    {{ return({'loads': kept, 'problem': none}) }}
{%- endmacro -%}


{#- Those of some loads whose names say something. Arguments: loads, attribute (of _load_kind(),
    or time: the business time), a Jinja test and the value that it compares with. -#}
{%- macro _loads_with(loads, attribute, test='equalto', value=true) -%}
    {%- set named = [] -%}
    {%- for load_id in loads -%}
        {%- set told = {'time': spark_cdc._load_time(load_id)} if attribute == 'time' else spark_cdc._load_kind(load_id) -%}
        {%- do named.append(dict(told, load_id=load_id)) -%}
    {%- endfor -%}
    {{ return(named | selectattr(attribute, test, value) | map(attribute='load_id') | list) }}
{%- endmacro -%}


{#- The loads with which two lists of loads begin alike. -#}
{%- macro _common_loads(some, others) -%}
    {%- set same = namespace(count=0) -%}
    {%- for load_id in some -%}
        {%- if same.count == loop.index0 and others[loop.index0:][:1] == [load_id] -%}{%- set same.count = loop.index -%}{%- endif -%}
    {%- endfor -%}
    {{ return(some[:same.count]) }}
{%- endmacro -%}


{#- The loads that make up a state: the newest checkpoint of a list of loads (base, or none), and
    those after it (log). -#}
{%- macro _state_loads(loads) -%}
    {%- set checkpoints = spark_cdc._loads_with(loads, 'is_checkpoint') -%}
    {%- if not checkpoints -%}
        {{ return({'base': none, 'log': loads}) }}
    {%- endif -%}
    {{ return({'base': checkpoints[-1], 'log': loads[loads.index(checkpoints[-1]) + 1:]}) }}
{%- endmacro -%}


{#- Which run writes a load, as its record has it. -#}
{%- macro _run_of_load() -%}
    {{ return({
        'started_at': spark_cdc._time_now('%Y-%m-%d %H:%M:%S.%f'),
        'invocation_id': invocation_id,
        'dbt_version': dbt_version,
        'spark_cdc_version': spark_cdc._version(),
    }) }}
{%- endmacro -%}


{#- How many rows of loads break which rule, told from the notes that the ledger keeps: rows as
    _load_counts() takes them, whose note is JSON from a rule's name to a number; under an empty
    name how many rows were set aside by rules. Nothing where the entity has no rules. -#}
{%- macro _rule_counts_sql(entity, ledger, loads) -%}
{%- if entity.rules and loads -%}
select
    load_id,
    'rules' as operation,
    0 as row_count,
    to_json(map_from_entries(collect_list(struct(rule, row_count)))) as note
from (
    select
        load_id,
        rule,
        count(*) as row_count
    from (
        select
            load_id,
            explode(if(
                operation = 'R',
                array_append(from_json(get_json_object(note, '$.rules'), 'array<string>'), ''),
                split(note, ',')
            )) as rule
        from {{ ledger }}
        where
            {{ spark_cdc._in_loads(loads) }}
            and operation in {{ spark_cdc._operations('judged') }}
            and note is not null
    ) as named
    group by load_id, rule
) as counted
group by load_id
{%- endif -%}
{%- endmacro -%}


{#- What rules said of a load: a list of dictionaries rule, action, judged (rows), broken (rows).
    Rows that are gone, and rejected ones that no rule has seen, are not judged. Arguments:
    entity, counts (of _figures_of_load()), broken (of _load_counts(); none counts as nobody). -#}
{%- macro _rule_counts_of_load(entity, counts, broken) -%}
    {%- set broken, results = broken or {}, [] -%}
    {%- set judged = counts.I + counts.U + counts.N + broken.get('', 0) -%}
    {%- for rule in entity.rules -%}
        {%- do results.append({'rule': rule.name, 'action': rule.action, 'judged': judged, 'broken': broken.get(rule.name, 0)}) -%}
    {%- endfor -%}
    {{ return(results) }}
{%- endmacro -%}
