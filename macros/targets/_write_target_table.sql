{#- Writes a published table of a format that has MERGE, in one commit, whose own metadata have the version that the table has then: data and version
    can't part. A table that is not there, or whose columns have other types now, is written whole, in one commit, too.
    Arguments: found (of _found_target()), record (that goes with the commit), sql (query of all rows), changed (query of those that changed, see
    _target_changes_sql(); none to compare all). -#}
{%- macro _write_target_table(target, found, record, sql, changed) -%}
    {%- set is_new = not found.exists or not spark_cdc._settled_target(target) -%}
    {%- set setting = {'delta': 'spark.databricks.delta.commitInfo.userMetadata', 'iceberg': 'spark.sql.iceberg.snapshot-property.spark_cdc'}[target.format] -%}
    {%- do spark_cdc._send('set `' ~ setting ~ '` = `spark_cdc published: ' ~ spark_cdc._comment_json(record) ~ '`') -%}
    {%- if is_new -%}
        {%- do spark_cdc._send(spark_cdc._create_target_sql(target, sql)) -%}
    {%- else -%}
        {%- do spark_cdc._send(spark_cdc._merge_target_sql(target, sql, changed)) -%}
    {%- endif -%}
    {%- do spark_cdc._send('reset `' ~ setting ~ '`') -%}
{%- endmacro -%}


{#- Adds the columns that a published table lacks. Returns whether those that it has are of the types that are written. Columns beyond are left alone. -#}
{%- macro _settled_target(target) -%}
    {%- set lacking, is_alike = [], [] -%}
    {%- set found = {} -%}
    {%- for column in adapter.get_columns_in_relation(target.relation) -%}{%- do found.update({column.name | lower: column.dtype}) -%}{%- endfor -%}
    {%- for column in target.columns -%}
        {%- set type = spark_cdc._target_type(target, column.data_type) -%}
        {%- set there = found.get(column.name | lower) -%}
        {%- if there is none -%}
            {%- do lacking.append(column.sql ~ ' ' ~ type) -%}
        {%- elif spark_cdc._target_type(target, there) != type -%}
            {%- do log(target.entity.name ~ ': ' ~ column.name ~ ' is ' ~ type ~ ' now, and ' ~ there ~ ' in ' ~ target.relation ~ ', which is written anew', info=true) -%}
            {{ return(false) }}
        {%- endif -%}
    {%- endfor -%}
    {%- if lacking -%}
        {%- if target.format == 'delta' and 'timestamp_ntz' in lacking | join -%}
            {%- do spark_cdc._send('alter table ' ~ target.relation ~ " set tblproperties ('delta.feature.timestampNtz' = 'supported')") -%}
        {%- endif -%}
        {%- do spark_cdc._send('alter table ' ~ target.relation ~ ' add columns (' ~ lacking | join(', ') ~ ')') -%}
    {%- endif -%}
    {{ return(true) }}
{%- endmacro -%}


{#- A type as a published table has it: Iceberg knows whole numbers from 4 bytes on. -#}
{%- macro _target_type(target, type) -%}
    {%- set plain = spark_cdc._plain_type(type) -%}
    {{ return(modules.re.sub('\\b(tinyint|smallint)\\b', 'int', plain) if target.format == 'iceberg' else plain) }}
{%- endmacro -%}


{%- macro _create_target_sql(target, sql) -%}
    {%- set properties = dict(
        {'delta.enableChangeDataFeed': 'true'} if target.format == 'delta' else {},
        **dict(config.get('tblproperties') or {}, **{'spark_cdc.published': target.mark})
    ) -%}
create or replace table {{ target.relation }}
using {{ target.format }}
{{ partition_cols(label='partitioned by') }}
{{ location_clause() }}
tblproperties (
    {%- for name, value in properties.items() %}
    {{ spark_cdc._literal(name) }} = {{ spark_cdc._literal(value) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
as
{{ sql }}
{%- endmacro -%}


{#- What brings a published table up to date: rows that it has already as they are to be are not touched. -#}
{%- macro _merge_target_sql(target, sql, changed) -%}
{%- set is_other = [] -%}
{%- for column in target.columns if column.role != 'key' -%}
    {%- do is_other.append(spark_cdc._same_value_sql(column, 'published.', 'came.')) -%}
{%- endfor -%}
{%- set names = target.columns | map(attribute='sql') | list -%}
merge into {{ target.relation }} as published
using (
    {{ (changed or 'select\n    *,\n    false as is__gone\nfrom (\n' ~ sql ~ '\n) as all_rows') | indent }}
) as came
    on
        {% for column in target.entity.key_columns -%}
        published.{{ column.sql }} = came.{{ column.sql }}{{ '\n        and ' if not loop.last }}
        {%- endfor %}
when matched and came.is__gone then delete
when matched and not (
    {{ is_other | join('\n    and ') }}
) then
    update
        set
            {% for name in names -%}
            {{ name }} = came.{{ name }}{{ ',\n            ' if not loop.last }}
            {%- endfor %}
when not matched and not came.is__gone then insert (
    {{ names | join(',\n    ') }}
) values (
    came.{{ names | join(',\n    came.') }}
)
{%- if not changed %}
when not matched by source then delete
{%- endif %}
{%- endmacro -%}


{#- Whether two rows have the same value in a column; maps can't be compared as they are. -#}
{%- macro _same_value_sql(column, one, other) -%}
    {%- set sides = [] -%}
    {%- for side in [one, other] -%}
        {%- set value = side ~ column.sql -%}
        {%- do sides.append(
            spark_cdc._hash_value(value, spark_cdc._hash_type(column.data_type), 0, '', '~') if 'map<' in column.data_type | lower else value) -%}
    {%- endfor -%}
    {{ return(sides | join(' <=> ')) }}
{%- endmacro -%}
