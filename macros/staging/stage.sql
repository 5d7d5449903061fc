{#- Staging as SQL: one pass over what landed, which renames, casts, judges and hashes each row.
    Arguments: entity (dictionary of _entity()), landed (relation or name with the columns of the
    source and `cdc__unparsed`). Returns a query with the stored columns in declared order,
    key_hash, nonkey_hash, untracked_hash (only with untracked columns), cdc__deleted (deltas with
    deleted_when) and cdc__note: null, or for a rejected row the JSON text of _reject_note().
    key_hash hangs on the key columns alone (null if one of them is), so that looking for the keys
    of a load reads nothing else. Where keys that come more than once are set aside, all their rows
    are rejected: they are found by one more read of the key columns. Where the entity has rules
    that warn, cdc__warned: the names of those that the row breaks (_rule_warnings()). carried:
    names of further columns of `landed` that the query has, too. Rows of erased keys have no
    sensitive values. key_hash of a keyless entity: _numbered_rows_sql(). -#}
{%- macro _stage_sql(entity, landed, carried=[]) -%}
    {%- set names = entity.stored | map(attribute='name') | list + ['key_hash', 'nonkey_hash'] + (['untracked_hash'] if entity.untracked else [])
        + (['cdc__deleted'] if entity.deleted_when is not none else []) + carried + ['cdc__note']
        + (['cdc__warned'] if spark_cdc._rule_mask(entity.rules, ['warn']) else []) -%}
    {%- set rows = spark_cdc._staged_rows_sql(entity, landed, carried) -%}
    {{ return(spark_cdc._erased_staged_rows_sql(entity, spark_cdc._numbered_rows_sql(entity, rows, names, carried) if entity.keyless else rows, names)) }}
{%- endmacro -%}


{#- Rows without a key, with what tells them apart as key_hash: the hash of the compared columns and
    the row's number among equals (docs/hash.md), null if a value can't be accepted. Of equal rows
    the rejected ones come last, so that the accepted ones have the numbers that they had before.
    Equals are ordered by all else that is stored of them: a task that Spark repeats numbers them
    alike. Arguments: entity, sql (of _staged_rows_sql(): cdc__has_fault in place of key_hash),
    names (of the columns), carried (columns whose values are counted apart: of several dates). -#}
{%- macro _numbered_rows_sql(entity, sql, names, carried) -%}
{%- set order = ['cdc__note'] + ['untracked_hash', 'cdc__warned'] | select('in', names) | list -%}
{%- set number = 'row_number() over (partition by ' ~ (['cdc__has_fault', 'nonkey_hash'] + carried) | join(', ') ~ ' order by ' ~ order | join(', ') ~ ')' -%}
select
    {%- for name in names %}
    {%- if name == 'key_hash' %}
    if(cdc__has_fault, null, unhex(md5(concat({{ spark_cdc._hex('nonkey_hash') }}, '#', {{ number }})))) as key_hash
    {%- else %}
    {{ spark_cdc._quote(name) }}
    {%- endif -%}
    {{ ',' if not loop.last }}
    {%- endfor %}
from (
    {{ sql | indent(4) }}
) as unnumbered
{%- endmacro -%}


{%- macro _staged_rows_sql(entity, landed, carried) -%}
{%- set drops_repeated = 'duplicate_keys' in entity.quarantine -%}
{%- set has_deletes = entity.deleted_when is not none -%}
{%- set rules = entity.rules -%}
{%- set faults = spark_cdc._numbered_faults(spark_cdc._reject_faults(entity)) -%}
{%- set has_fault = spark_cdc._has_fault(faults) -%}
{#- more than the note depends on the faults of a row -#}
{%- set is_judged = entity.keyless or drops_repeated or rules | length > 0 -%}
{%- set sets_aside = spark_cdc._rule_is_broken(rules, ['drop', 'fail']) -%}
{%- set key_hash = '' if entity.keyless else spark_cdc._hash_unless(spark_cdc._any_null(entity.key_columns), entity.key_columns) -%}
{{ spark_cdc._cast_columns_ctes(entity, landed, 'typed', carried) }},

flagged as (
    select
        *,
        {{ 'coalesce(' ~ entity.deleted_when ~ ', false)' if has_deletes else 'false' }} as cdc__deleted
    from typed
)
{%- if is_judged %},

judged as (
    select
        *,
        {{- spark_cdc._fault_bits(faults) | indent(8) }}
    from flagged
)
{%- endif %}
{%- if rules %},

ruled as (
    select
        *,
        {{ spark_cdc._rule_bits(rules, 'not (' ~ has_fault ~ ' or cdc__deleted)') | indent(8) }} as cdc__rules
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
        key_hash as cdc__repeated_key_hash,
        count(*) as cdc__repeated_rows
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
    {{- has_fault ~ ' as cdc__has_fault' if entity.keyless else 'key_hash' if drops_repeated else key_hash | indent(4) ~ ' as key_hash' }},
    {{ spark_cdc._hash(entity.compared) | indent(4) }} as nonkey_hash,
    {%- if entity.untracked %}
    {{ spark_cdc._hash(entity.untracked) | indent(4) }} as untracked_hash,
    {%- endif %}
    {%- if has_deletes %}
    cdc__deleted,
    {%- endif %}
    {%- for column in carried %}
    {{ column }},
    {%- endfor %}
    {%- if is_judged %}
    if(
        {{ has_fault }}{{ ' or cdc__repeated_key_hash is not null' if drops_repeated }}{{ ' or ' ~ sets_aside if sets_aside }},
        {{ spark_cdc._row_note(entity, faults) | indent(8) }},
        null
    ) as cdc__note
    {%- else %}
    {{ spark_cdc._note_in_doubt(faults, spark_cdc._row_note(entity, faults)) | indent(4) }} as cdc__note
    {%- endif %}
    {%- if spark_cdc._rule_mask(rules, ['warn']) %},
    {{ spark_cdc._rule_warnings(rules) | indent(4) }} as cdc__warned
    {%- endif %}
from {{ 'keyed' if drops_repeated else 'ruled' if rules else 'judged' if is_judged else 'flagged' }}
{%- if drops_repeated %}
left join repeated
    on keyed.key_hash = repeated.cdc__repeated_key_hash
{%- endif %}
{%- endmacro -%}


{#- All columns, as they came in and cast to the declared types, as CTEs: `landed`, and one of
    the given name. Others that `landed` has may be carried on (names). -#}
{%- macro _cast_columns_ctes(entity, landed, name, carried=[]) -%}
with landed as (
    select
        {% for column in entity.columns -%}
        {{ spark_cdc._landed_column(entity, column) }} as {{ spark_cdc._raw(column) }},
        {% endfor -%}
        {%- if entity.events and entity.source.facts.has_names -%}
        cdc__names,
        {% endif -%}
        cdc__unparsed
        {%- for column in carried %},
        {{ column }}
        {%- endfor %}
    from {{ landed }}
),

{{ name }} as (
    select
        *
        {%- for column in entity.columns %},
        {{ spark_cdc._cast(column, spark_cdc._raw(column), entity.source.text, entity.timezone) }} as {{ column.sql }}
        {%- endfor %}
    from landed
)
{%- endmacro -%}


{#- Those of some different texts that are not null, as an array: array_except() is compiled with
    what stands around it, array_compact() is not. -#}
{%- macro _texts_found(texts) -%}
{%- if not texts -%}
cast(array() as array<string>)
{%- else -%}
array_except(array(
    {{ texts | join(',\n    ') }}
), array(cast(null as string)))
{%- endif -%}
{%- endmacro -%}


{#- A column of a message's new image (event_after; event_before is the old one or the old key, as
    maps of text) as text; for a key that the image lacks the old one. -#}
{%- macro _sent_image_value(column) -%}
{%- set name = spark_cdc._literal(column.from) -%}
{%- if column.role == 'key' -%}
if(map_contains_key(event_after, {{ name }}), event_after[{{ name }}], event_before[{{ name }}])
{%- else -%}
try_element_at(event_after, {{ name }})
{%- endif -%}
{%- endmacro -%}


{#- The old key of a row, as text, column by column; null where the event names none. Parts that
    the old image lacks have not changed: unchanged is the text of the new one. -#}
{%- macro _sent_old_key(entity, column, unchanged) -%}
{%- set name = spark_cdc._literal(column.from) -%}
if(event_op in ('update', 'upsert') and ({{ spark_cdc._sent_before(entity.key_columns) | join(' or ') }}), {# -#}
if(map_contains_key(event_before, {{ name }}), event_before[{{ name }}], {{ unchanged }}), null)
{%- endmacro -%}


{#- For each of some columns whether it is in the old image: a list of conditions. -#}
{%- macro _sent_before(columns) -%}
    {%- set conditions = [] -%}
    {%- for column in columns -%}
        {%- do conditions.append('map_contains_key(event_before, ' ~ spark_cdc._literal(column.from) ~ ')') -%}
    {%- endfor -%}
    {{ return(conditions) }}
{%- endmacro -%}


{#- The texts for an unchanged value that messages may have, once for each set of columns that share
    them: a dictionary from the name of an array column to its expressions. -#}
{%- macro _mark_lists(entity) -%}
    {%- set lists = {} -%}
    {%- for column in entity.stored if column.role != 'key' -%}
        {%- set marks = spark_cdc._sent_marks(entity, column) -%}
        {%- if marks and marks not in lists.values() -%}{%- do lists.update({'cdc__marks_' ~ (lists | length + 1): marks}) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(lists) }}
{%- endmacro -%}


{#- Whether a column has a text for an unchanged value, as a condition, null where there is no text;
    an empty text where it can't. Arguments: entity, column, lists (of _mark_lists(), which the
    caller works out once). -#}
{%- macro _is_sent_mark(entity, column, lists) -%}
{%- set raw, marks = spark_cdc._raw(column), spark_cdc._sent_marks(entity, column) if column.role not in ['key', 'control'] else [] -%}
{%- if marks and entity.events.is_message -%}
    {%- for name, list in lists.items() if list == marks -%}
cdc__is_marked and array_contains({{ name }}, {{ raw }})
    {%- endfor -%}
{%- elif marks -%}
{{ raw }} in ({{ marks | join(', ') }})
{%- endif -%}
{%- endmacro -%}


{#- How the text for an unchanged value looks in a column, as Debezium writes it: its bytes as
    base64 or hexadecimal digits in binary, lists of it in arrays (of numbers its bytes, each as
    base64 where they are decimals; of uuid the one that Java names after it), a pair of it in a
    map. Returns a list of expressions. -#}
{%- macro _sent_marks(entity, column) -%}
    {%- if entity.events.unavailable is none -%}{{ return([]) }}{%- endif -%}
    {%- set mark = entity.events.unavailable | string -%}
    {%- set letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/' -%}
    {%- set digits, bytes, decimals = [], [], [] -%}
    {%- set plain = ' !"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~' -%}
    {#- its bytes in UTF-8: urlencode makes %XX of each that is no plain character -#}
    {%- set utf8, pieces = [], (mark | urlencode).split('%') -%}
    {%- for piece in pieces -%}
        {%- if not loop.first -%}{%- do utf8.append(piece[:2] | int(0, 16)) -%}{%- endif -%}
        {%- for sign in (piece if loop.first else piece[2:]) -%}{%- do utf8.append(plain.index(sign) + 32) -%}{%- endfor -%}
    {%- endfor -%}
    {%- for byte in utf8 -%}
        {%- do digits.append('0123456789abcdef'[byte // 16] ~ '0123456789abcdef'[byte % 16]) -%}
        {%- do bytes.append(byte if byte < 128 else byte - 256) -%}
        {%- do decimals.append('"' ~ letters[byte // 4] ~ letters[byte % 4 * 16] ~ '=="') -%}
    {%- endfor -%}
    {%- set scaled = '{"scale":0,"value":' ~ decimals | join('},{"scale":0,"value":') ~ '}' -%}
    {%- set uuid -%}
regexp_replace(overlay(overlay(md5({{ spark_cdc._literal(mark) }}) placing '3' from 13) placing {# -#}
translate(substr(md5({{ spark_cdc._literal(mark) }}), 17, 1), '0123456789abcdef', '89ab89ab89ab89ab') from 17), {# -#}
'(.{8})(.{4})(.{4})(.{4})', '$1-$2-$3-$4-')
    {%- endset -%}
    {%- set base64 -%}base64(cast({{ spark_cdc._literal(mark) }} as binary)){%- endset -%}
    {%- set base64_list -%}concat('["', {{ base64 }}, '"]'){%- endset -%}
    {%- set text = [spark_cdc._literal(mark)] -%}
    {%- set binary = [base64, spark_cdc._literal(digits | join), spark_cdc._literal(digits | join | upper)] -%}
    {%- set list = [spark_cdc._literal('["' ~ mark ~ '"]'), base64_list, "concat('[\"', " ~ uuid ~ ", '\"]')"] -%}
    {%- for items in [bytes | join(','), bytes | join('.0,') ~ '.0', decimals | join(','), scaled] -%}
        {%- do list.append(spark_cdc._literal('[' ~ items ~ ']')) -%}
    {%- endfor -%}
    {%- set pair = [spark_cdc._literal('{"' ~ mark ~ '":"' ~ mark ~ '"}')] -%}
    {%- if column.data_type == 'string' -%}
        {{ return(text + binary + list + pair) }}
    {%- elif column.data_type == 'binary' -%}
        {{ return(text + binary) }}
    {%- elif column.data_type.startswith('array') -%}
        {{ return(text + list) }}
    {%- elif column.data_type.startswith(('map', 'struct')) -%}
        {{ return(text + pair) }}
    {%- endif -%}
    {{ return(text + [base64]) }}
{%- endmacro -%}


{#- Whether <entity>_ledger lands the change events of an entity, and not <entity>_events: where
    each step of a load at hand reads them from their source, as far as nothing but plain rows is
    in it, and where it is decided there what is read of a table's change feed
    (_staged_events()). -#}
{%- macro _is_landed_by_ledger(entity) -%}
    {{ return(
        (spark_cdc._can_be_read_again(entity) or entity.source.facts.reads == 'feed') and spark_cdc._mode() in ['load', 'operate']
        and spark_cdc._business_time_of(entity.name) is not none and not spark_cdc._is_archive_replay()
    ) }}
{%- endmacro -%}


{#- The hash of some columns; null where a condition holds. -#}
{%- macro _hash_unless(condition, columns) -%}
if(
    {{ condition }}, null,
    {{ spark_cdc._hash(columns) | indent(4) }}
)
{%- endmacro -%}


{#- The hash of another unique key, under the columns' own names and with its place among the
    unique keys. -#}
{%- macro _alternate_hash(columns) -%}
if({{ spark_cdc._any_null(columns) }}, null, {{ spark_cdc._hash(columns) }})
{%- endmacro -%}


{#- Those of all unique keys of a row, as an array. -#}
{%- macro _alternate_hash_array(entity) -%}
array_compact(array({# -#}
{%- for columns in entity.events.unique_keys -%}
{{ spark_cdc._alternate_hash(columns) }}{{ ', ' if not loop.last }}
{%- endfor -%}
))
{%- endmacro -%}
