{#- The keys that are to be forgotten, as a temporary view spark_cdc_forget_<entity>: the key columns, key_hash, forgotten__text (a pattern that finds the key in a rejected row of
    which the key could not be read). They are checked; nothing is written. Arguments: capture, layout (of the manifest), keys, source, even_if_absent (of forget()).
    Returns a dictionary: view, keys (number), listed (how many are on the list already), layout. -#}
{%- macro _forget_wanted(capture, layout, keys, source, even_if_absent) -%}
    {%- set entity = capture.entity -%}
    {%- set view = 'spark_cdc_forget_' ~ entity.name -%}
    {%- do spark_cdc._send('create or replace temporary view ' ~ view ~ '_given as\n' ~ (spark_cdc._forget_values_sql(entity, keys) if keys
        else spark_cdc._forget_source_sql(entity, source, view))) -%}
    {%- set typed = [] -%}
    {%- for column in entity.key_columns -%}{%- do typed.append('try_cast(' ~ column.sql ~ ' as ' ~ column.data_type ~ ') as ' ~ column.sql) -%}{%- endfor -%}
    {%- set patterns = [] -%}
    {%- for column in entity.key_columns -%}
        {%- do patterns.append("'(?=.*(?<![0-9A-Za-z])\\\\Q', replace(replace(cast(" ~ column.sql ~ " as string), '\\\\', '\\\\\\\\'), '\"', '\\\\\"'), '\\\\E(?![0-9A-Za-z]))'") -%}
    {%- endfor -%}
    {%- set sql -%}
create or replace temporary view {{ view }} as
select
    *,
    {{ spark_cdc._hash(entity.key_columns) | indent(4) }} as key_hash,
    concat('(?s)^', {{ patterns | join(', ') }}) as forgotten__text
from (
    select distinct
        {{ typed | join(',\n        ') }}
    from {{ view }}_given
) as keys
    {%- endset -%}
    {%- do spark_cdc._send(sql) -%}
    {%- set wrong = spark_cdc._query('select count(*) as found from ' ~ view ~ ' where ' ~ spark_cdc._any_null(entity.key_columns))[0].found | int -%}
    {%- set found = spark_cdc._query(spark_cdc._forget_known_sql(capture, layout, view))[0] if not wrong else {'keys': 0, 'listed': 0, 'absent': 0} -%}
    {%- set types = [] -%}
    {%- for column in entity.key_columns -%}{%- do types.append(column.name ~ ' ' ~ column.data_type) -%}{%- endfor -%}
    {%- set problems = spark_cdc._broken({'types': types | join(', '), 'wrong': wrong, 'absent': found.absent, 'keys': found['keys'], 'source': source}, [
        (wrong > 0, 'of the keys %(wrong)s are none: a value is missing or not of its type; the key is %(types)s'),
        (not wrong and found['keys'] | int == 0, 'there are no keys in %(source)s'),
        (found.absent | int > 0 and not even_if_absent,
         '%(absent)s of %(keys)s keys are in no load. If no later load is to bring values of them either, say so: --even-if-absent'),
    ]) -%}
    {%- do spark_cdc._refuse_forget(entity, problems) -%}
    {{ return({'view': view, 'keys': found['keys'] | int, 'listed': found.listed | int, 'layout': layout}) }}
{%- endmacro -%}


{%- macro _forget_values_sql(entity, keys) -%}
    {%- set rows = [] -%}
    {%- for key in keys -%}
        {%- set values = [] -%}
        {%- for value in (key if key is sequence and key is not string else [key]) -%}{%- do values.append(spark_cdc._literal(value | string)) -%}{%- endfor -%}
        {%- do rows.append('(' ~ values | join(', ') ~ ')') -%}
    {%- endfor -%}
select *
from values
    {{ rows | join(',\n    ') }}
    as given ({{ entity.key_columns | map(attribute='sql') | join(', ') }})
{%- endmacro -%}


{#- The key columns of a table, or of a CSV file with a header, as text. -#}
{%- macro _forget_source_sql(entity, source, view) -%}
    {%- set source = source | string | trim -%}
    {%- set is_table = modules.re.fullmatch('\\w+([.]\\w+){0,2}', source) and not source.endswith('.csv') -%}
    {%- if is_table -%}
        {%- set names = [] -%}
        {%- for part in source.split('.') -%}{%- do names.append(spark_cdc._quote(part)) -%}{%- endfor -%}
        {%- set relation = names | join('.') -%}
    {%- else -%}
        {%- set relation = view ~ '_file' -%}
        {%- do spark_cdc._send('create or replace temporary view ' ~ relation ~ ' using csv options (path ' ~ spark_cdc._literal(source)
            ~ ", header 'true', mode 'FAILFAST', ignoreLeadingWhiteSpace 'true', ignoreTrailingWhiteSpace 'true')") -%}
    {%- endif -%}
    {%- set found = [] -%}
    {%- for row in spark_cdc._query('describe ' ~ relation) -%}{%- do found.append(row.col_name | lower) -%}{%- endfor -%}
    {%- set missing = entity.key_columns | map(attribute='name') | map('lower') | reject('in', found) | list -%}
    {%- if missing -%}
        {%- set message -%}
spark_cdc.forget: {{ entity.name }}: {{ source }} lacks {{ missing | join(', ') }}; it has {{ found | reject('in', ['', '# partition information', '# col_name']) | unique | join(', ') }}. Accepted is a table, {# -#}
or a CSV file with a header, with the key columns {{ entity.key_columns | map(attribute='name') | join(', ') }}. Nothing was written.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
select
    {%- for column in entity.key_columns %}
    cast({{ column.sql }} as string) as {{ column.sql }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ relation }}
{%- endmacro -%}


{#- How many keys there are, how many of them are on the list, and how many neither there nor in any load. -#}
{%- macro _forget_known_sql(capture, layout, view) -%}
{%- set entity, list = capture.entity, spark_cdc._forgotten_list(capture.entity) -%}
{%- set tokens = spark_cdc._forgotten_tokens(entity, list, entity.key_columns) if spark_cdc._is_there(list) else [] -%}
{%- set is_loaded = spark_cdc._is_there(capture.ledger) -%}
select
    count(*) as keys,
    count_if(is_listed) as listed,
    count_if(not is_listed and not is_loaded) as absent
from (
    select
        wanted.key_hash,
        {% for token in tokens %}list_{{ loop.index }}.key_token is not null{{ ' or ' if not loop.last }}{% else %}false{% endfor %} as is_listed,
        {{ 'loaded.key_hash is not null' if is_loaded else 'false' }} as is_loaded
    from (
        select
            key_hash
            {%- for token in tokens %},
            {{ token.sql | indent(12) }} as token_{{ loop.index }}
            {%- endfor %}
        from {{ view }}
    ) as wanted
    {%- for token in tokens %}
    left join (select key_token from {{ list }} where secret = '{{ token.secret }}') as list_{{ loop.index }}
        on wanted.token_{{ loop.index }} = list_{{ loop.index }}.key_token
    {%- endfor %}
    {%- if is_loaded %}
    left join (
        select distinct {{ spark_cdc._forget_key_hash(entity, layout) | indent(8) }} as key_hash
        from {{ capture.ledger }}
        where operation <> 'L'
    ) as loaded
        on wanted.key_hash = loaded.key_hash
    {%- endif %}
) as known
{%- endmacro -%}


{#- Whether one of the keys wanted stands in a rejected row of which the key could not be read, as a condition. -#}
{%- macro _forget_wanted_in_text(rejected, wanted) -%}
    {{ return('(' ~ rejected ~ ') and key_hash is null and note rlike (select array_join(collect_list(forgotten__text), \'|\') from ' ~ wanted.view ~ ')') }}
{%- endmacro -%}
