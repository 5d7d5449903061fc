{#- What others see of a sensitive column, as an expression of its own type (docs/sensitive.md).
    Of a text no more than half is shown; what is no mail address has no domain. A year is that
    of the time in UTC, whatever the session's zone. Arguments: column (with mask and data_type),
    value (SQL). -#}
{%- macro _masked_sql(column, value) -%}
{%- if column.get('pseudonym') -%}
{{ spark_cdc._pseudonym(column, value) }}
{%- elif column.mask == 'last_4' -%}
if(length({{ value }}) >= 8, right({{ value }}, 4), null)
{%- elif column.mask == 'mail_domain' -%}
nullif(regexp_extract({{ value }}, '^[^@]+@([^@]+)$', 1), '')
{%- elif column.mask == 'year' and column.data_type == 'timestamp' -%}
timestamp_seconds(unix_date(trunc(date_from_unix_date(cast(floor(unix_seconds({{ value }}) / 86400) as int)), 'year')) * 86400L)
{%- elif column.mask == 'year' -%}
cast(trunc(cast({{ value }} as date), 'year') as {{ column.data_type }})
{%- else -%}
cast(null as {{ column.data_type }})
{%- endif -%}
{%- endmacro -%}


{#- The note of a row without what it quotes, as an expression: of a rejected row what kind it
    is and which columns and rules it is about. Arguments: condition (which rows are rejected),
    why. -#}
{%- macro _masked_note_sql(condition, why='its values lie apart, since the entity has sensitive columns') -%}
if(
    {{ condition }},
    to_json(named_struct(
        'kind', get_json_object(cdc__note, '$.kind'),
        'columns', from_json(get_json_object(cdc__note, '$.columns'), 'array<string>'),
        'rules', from_json(get_json_object(cdc__note, '$.rules'), 'array<string>'),
        'reasons', array('{{ why }}')
    )),
    cdc__note
)
{%- endmacro -%}


{#- The columns of rows as everybody may read them, as a list of expressions: sensitive ones
    masked, of a rejected row, in which a value may stand in the wrong place, none but the
    hashes. Arguments: entity, columns (dictionaries with name, none for one that is declared no
    more, at_sql and data_type), rejected (condition). -#}
{%- macro _masked_columns(entity, columns, rejected) -%}
    {%- set stored = dict(zip(entity.stored | map(attribute='name'), entity.stored)) -%}
    {%- set masked = [] -%}
    {%- for column in columns -%}
        {%- set declared = stored.get(column.name) -%}
        {%- if column.name is none -%}
            {%- do masked.append('cast(null as ' ~ column.data_type ~ ') as ' ~ column.at_sql) -%}
        {%- elif column.name == 'cdc__note' -%}
            {%- do masked.append(spark_cdc._masked_note_sql(rejected) ~ ' as cdc__note') -%}
        {%- elif declared is none -%}
            {%- do masked.append(column.at_sql) -%}
        {%- else -%}
            {%- set shown = spark_cdc._masked_sql(declared, column.at_sql) if declared.sensitive else column.at_sql -%}
            {%- do masked.append(('if(' ~ rejected ~ ', null, ' ~ shown ~ ')' if declared.mask != 'none' else shown) ~ ' as ' ~ column.at_sql) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(masked) }}
{%- endmacro -%}


{#- What staging makes of what came in, for people to look at: as everybody may see it
    (docs/sensitive.md). Arguments: entity, sql (of _stage_sql() or _stage_events_sql()). -#}
{%- macro _masked_stage_sql(entity, sql) -%}
{%- set columns = [] -%}
{%- for one in (['event_op', 'event_position', 'event_time'] if entity.events else []) + entity.stored
        + ['key_hash'] + ([] if entity.events else ['nonkey_hash']) + ['cdc__note'] -%}
    {%- do columns.append({'name': one, 'at_sql': one} if one is string else dict(one, at_sql=one.sql)) -%}
{%- endfor -%}
select
    {{ spark_cdc._masked_columns(entity, columns, 'cdc__note is not null') | join(',\n') | indent(4) }}
from (
    {{ sql | indent(4) }}
) as staged
{%- endmacro -%}


{#- Rows, of which those of erased keys have no sensitive values: these are null, and the hashes
    are those of what is left, so that equal rows stay equal and a later load finds them unchanged.
    A sensitive key is null, too, and its hash the random one that the list has for it. Of a
    rejected row, in which a value may stand in the wrong place, no column is left but a plain key,
    and its note says no more than which columns and rules it is about.
    Arguments: entity, rows (query), columns (dictionaries with name and sql: what the rows have,
    in order), rejected (condition: whether a row is a rejected one), tokens and old_tokens (of
    _erased_tokens(), over the rows; the latter of the key that an event had before, none
    where its hash stays), also (condition over the rows: which others are to be treated so, or
    none), where (which of the rows are kept; over the columns, cdc__erased_is_gone and
    cdc__erased_is_old_gone). Returns a query with these columns. -#}
{%- macro _erased_rows_sql(entity, rows, columns, rejected, tokens, old_tokens=[], also=none, where=none) -%}
{%- set list = spark_cdc._erased_list(entity) -%}
{%- set joins = [] -%}
{%- for prefix, some in [('', tokens), ('old_', old_tokens)] -%}
    {%- for token in some -%}
        {%- do joins.append({
            'column': 'cdc__erased_' ~ prefix ~ 'token_' ~ loop.index, 'name': prefix ~ 'listed_' ~ loop.index,
            'secret': token.secret, 'sql': token.sql, 'is_old': prefix == 'old_',
        }) -%}
    {%- endfor -%}
{%- endfor -%}
select
    {{ spark_cdc._erased_columns(entity, columns, rejected, old_tokens | length > 0) | join(',\n') | indent(4) }}
from (
    select
        marked.*,
        cdc__erased_key_hash is not null{{ ' or coalesce(' ~ also ~ ', false)' if also }} as cdc__erased_is_gone,
        {{ 'cdc__erased_old_key_hash is not null' if old_tokens else 'false' }} as cdc__erased_is_old_gone
    from (
        select
            tokened.*,
            coalesce({{ joins | rejectattr('is_old') | map(attribute='name') | join('.key_hash, ') }}.key_hash) as cdc__erased_key_hash
            {%- if old_tokens %},
            coalesce({{ joins | selectattr('is_old') | map(attribute='name') | join('.key_hash, ') }}.key_hash) as cdc__erased_old_key_hash
            {%- endif %}
        from (
            select
                *,
                {%- for join in joins %}
                {{ spark_cdc._aliased(join.sql, join.column) | indent(16) }}{{ ',' if not loop.last }}
                {%- endfor %}
            from (
                {{ rows | indent(16) }}
            ) as given
        ) as tokened
        {%- for join in joins %}
        left join (
            select
                key_token,
                key_hash
            from {{ list }}
            where secret = '{{ join.secret }}'
        ) as {{ join.name }}
            on tokened.{{ join.column }} = {{ join.name }}.key_token
        {%- endfor %}
    ) as marked
) as found
{%- if where %}
where {{ where }}
{%- endif %}
{%- endmacro -%}


{#- The columns of such rows, as a list of expressions. -#}
{%- macro _erased_columns(entity, columns, rejected, has_old) -%}
    {%- set left = [] -%}
    {%- for column in entity.stored -%}{%- do left.append(dict(column, sql='cast(null as ' ~ column.data_type ~ ')') if column.sensitive else column) -%}{%- endfor -%}
    {%- set stored = dict(zip(entity.stored | map(attribute='name'), entity.stored)) -%}
    {%- set hashes = {
        'nonkey_hash': left | selectattr('role', 'equalto', 'compared') | list,
        'untracked_hash': left | selectattr('role', 'equalto', 'untracked') | list,
    } -%}
    {%- set gone, old_gone = 'cdc__erased_is_gone', 'cdc__erased_is_old_gone' -%}
    {%- set expressions = [] -%}
    {%- for column in columns -%}
        {%- set name, sql = column.name, column.sql -%}
        {%- set declared, old = stored.get(name), stored.get(name.removeprefix('cdc__old_')) -%}
        {%- if name == 'key_hash' -%}
            {%- set shown = 'coalesce(cdc__erased_key_hash, key_hash)' -%}
        {%- elif name == 'old_key_hash' and has_old -%}
            {%- set shown = 'coalesce(cdc__erased_old_key_hash, old_key_hash)' -%}
        {%- elif name in hashes -%}
            {%- set shown = 'case when not ' ~ gone ~ ' or ' ~ name ~ ' is null then ' ~ name ~ ' when not (' ~ rejected ~ ') then '
                ~ spark_cdc._hash(hashes[name]) ~ ' end' -%}
        {%- elif name == 'event_hash' -%}
            {#- equal events of a key stay equal ones; it is not keyed, so that no value may take
                part in it -#}
            {%- set hash = spark_cdc._event_hash(dict(entity, key_columns=[], stored=left)) -%}
            {%- set keys = ['coalesce(cdc__erased_key_hash, key_hash)'] + (['coalesce(cdc__erased_old_key_hash, old_key_hash)'] if has_old else []) -%}
            {%- set shown = 'if(' ~ gone ~ ' or ' ~ old_gone ~ ', xxhash64(' ~ keys | join(', ') ~ ', ' ~ hash ~ '), event_hash)' -%}
        {%- elif name == 'cdc__note' -%}
            {%- set shown = 'if(' ~ gone ~ ', ' ~ spark_cdc._masked_note_sql(rejected, spark_cdc._erased_text()) ~ ', cdc__note)' -%}
        {%- elif declared and declared.sensitive -%}
            {%- set shown = 'if(' ~ gone ~ ', null, ' ~ sql ~ ')' -%}
        {%- elif declared -%}
            {%- set is_kept = '' if declared.role != 'key' else ' and key_hash is null' -%}
            {%- set shown = 'if(' ~ gone ~ ' and (' ~ rejected ~ ')' ~ is_kept ~ ', null, ' ~ sql ~ ')' -%}
        {%- elif name.startswith('cdc__old_') and old and old.sensitive -%}
            {%- set shown = 'if(' ~ gone ~ ' or ' ~ old_gone ~ ', null, ' ~ sql ~ ')' -%}
        {%- else -%}
            {%- set shown = sql -%}
        {%- endif -%}
        {%- do expressions.append(spark_cdc._aliased(shown, sql)) -%}
    {%- endfor -%}
    {{ return(expressions) }}
{%- endmacro -%}


{#- What staging makes of rows or events, without the values of erased keys: the query itself
    for an entity of which none was. Arguments: entity, sql, names (of its columns). -#}
{%- macro _erased_staged_rows_sql(entity, sql, names) -%}
    {%- set list = spark_cdc._erased(entity) -%}
    {%- set tokens = spark_cdc._erased_tokens(entity, list, entity.key_columns) if list is not none else [] -%}
    {%- if not tokens -%}{{ return(sql) }}{%- endif -%}
    {%- set stored, columns = dict(zip(entity.stored | map(attribute='name'), entity.stored)), [] -%}
    {%- for name in names -%}{%- do columns.append({'name': name, 'sql': stored[name].sql if name in stored else spark_cdc._quote(name)}) -%}{%- endfor -%}
    {%- set old_tokens = spark_cdc._erased_old_tokens(entity, list) if 'old_key_hash' in names else [] -%}
    {{ return(spark_cdc._erased_rows_sql(entity, sql, columns, 'cdc__note is not null', tokens, old_tokens)) }}
{%- endmacro -%}


{#- By what an erased key is known when it comes again. Of a plain key that is its hash, which
    everybody may read anyway. Of a sensitive one it is an HMAC of the values under names of its
    own, so that the list tells neither the key nor its former hash; each secret of which the
    list has tokens makes one, so that a rotation erases nothing. Arguments: entity, list (of
    _erased_list()), keys (the key columns, with the SQL of their values), key_hash (SQL of
    the hash). Returns a list of dictionaries: secret (id), sql. -#}
{%- macro _erased_tokens(entity, list, keys, key_hash='key_hash') -%}
    {%- set tokens = [] -%}
    {%- for id in spark_cdc._erased_secrets(entity, list) -%}
        {%- do tokens.append({'secret': id, 'sql': key_hash if id == 'none' else spark_cdc._erased_token(entity, keys, id)}) -%}
    {%- endfor -%}
    {{ return(tokens) }}
{%- endmacro -%}


{#- The token of a sensitive key, with the secret of an id. -#}
{%- macro _erased_token(entity, keys, id) -%}
    {%- set secret = spark_cdc._secret_of_id(id) -%}
    {%- if spark_cdc._known(secret) is none -%}
        {%- set message -%}
{{ entity.name }}: keys were erased under the secret {{ id }}, and {{ secret }} is gone, so that nobody can tell whether they come again. Nothing was written. {# -#}
Put the table back as it was.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- set columns = [] -%}
    {%- for key in keys -%}{%- do columns.append(dict(key, name='erased:' ~ key.name, secret=secret)) -%}{%- endfor -%}
    {{ return(spark_cdc._hash_unless(spark_cdc._any_null(columns), columns)) }}
{%- endmacro -%}


{#- The tokens of the key that an event's row had before, if it is sensitive; keys as of
    _old_keys(). -#}
{%- macro _erased_old_tokens(entity, list, keys=none) -%}
    {%- if not spark_cdc._has_sensitive_key(entity) -%}{{ return([]) }}{%- endif -%}
    {%- set former = [] -%}
    {%- for key in keys or spark_cdc._old_keys(entity) -%}{%- do former.append(dict(key, name=key.of.name)) -%}{%- endfor -%}
    {{ return(spark_cdc._erased_tokens(entity, list, former, 'old_key_hash')) }}
{%- endmacro -%}
