{#- How stored values of one type become those of another. Text is read exactly as staging would read it, with the column's format and
    encoding; other types by a cast that is taken back to see whether anything was lost. In the expressions raw__value stands for the
    old value.
    Arguments: entity, column (as it is declared now), former_type. Returns none if the types are the same, or a dictionary: sql (expression
    of the new type), misfit (condition: the value can't be kept; never null), problem (why there is no such conversion, or none). -#}
{%- macro _conversion(entity, column, former_type) -%}
    {%- set type = spark_cdc._plain_type(column.data_type) -%}
    {%- set before = spark_cdc._plain_type(former_type) -%}
    {%- if type == before -%}{{ return(none) }}{%- endif -%}
    {%- set kind = spark_cdc._hash_type(type).get('kind') -%}
    {%- set from_kind = spark_cdc._hash_type(before).get('kind') -%}
    {%- set numbers = ['integer', 'decimal', 'float', 'double', 'boolean'] -%}
    {%- set is_nested = kind in ['array', 'map', 'struct'] and from_kind == kind -%}
    {%- set raw = 'raw__value' -%}
    {%- set misfit = 'false' -%}

    {%- if from_kind == 'string' -%}
        {%- set declared = dict(column, data_type=type, nullable=true) -%}
        {%- set sql = spark_cdc._cast(declared, raw, true, entity.timezone) -%}
        {%- set misfit = spark_cdc._reject_condition(declared, raw, '(' ~ sql ~ ')', true, entity) or misfit -%}
    {%- elif kind == 'string' and from_kind in numbers + ['date', 'timestamp_ntz'] -%}
        {%- set sql = 'cast(' ~ raw ~ ' as string)' -%}
    {%- elif kind in numbers and from_kind in numbers -%}
        {%- set sql = 'try_cast(' ~ raw ~ ' as ' ~ type ~ ')' -%}
        {%- set misfit = 'not try_cast(' ~ sql ~ ' as ' ~ before ~ ') <=> ' ~ raw -%}
    {%- elif is_nested and 'struct<' not in type ~ before -%}
        {%- set sql = 'try_cast(' ~ raw ~ ' as ' ~ type ~ ')' -%}
        {%- set misfit = 'not to_json(try_cast(' ~ sql ~ ' as ' ~ before ~ ')) <=> to_json(' ~ raw ~ ')' -%}
    {%- elif is_nested -%}  {#- a cast would take the fields of a struct by their order -#}
        {#- and JSON has their names in the case in which they were declared -#}
        {%- set folded = 'cast(' ~ raw ~ ' as ' ~ before ~ ')' -%}
        {%- set sql = spark_cdc._through_json(folded, type) -%}
        {%- set misfit = 'not ' ~ spark_cdc._json_of(spark_cdc._through_json(sql, before)) ~ ' <=> ' ~ spark_cdc._json_of(folded) -%}
    {%- elif kind == 'timestamp' and from_kind in ['date', 'timestamp_ntz'] -%}
        {%- set sql = spark_cdc._cast_instant('cast(' ~ raw ~ ' as string)', none, entity.timezone) -%}
        {%- set misfit = raw ~ ' is not null and ' ~ sql ~ ' is null' -%}
    {%- elif kind == 'timestamp_ntz' and from_kind == 'date' -%}
        {%- set sql = 'cast(' ~ raw ~ ' as timestamp_ntz)' -%}
    {%- elif kind in ['date', 'timestamp_ntz'] and from_kind in ['timestamp', 'timestamp_ntz'] -%}
        {%- set clock = raw if from_kind == 'timestamp_ntz' else spark_cdc._wall_clock(raw, entity.timezone) -%}
        {%- set sql = 'cast(' ~ clock ~ ' as date)' if kind == 'date' else clock -%}
        {%- set misfit = 'not cast(' ~ sql ~ ' as timestamp_ntz) <=> ' ~ clock -%}
    {%- else -%}
        {{ return({'problem': 'its type was ' ~ former_type ~ ', of which spark_cdc can not make ' ~ column.data_type ~ ". Declare a column of "
            ~ 'another name with that type, and name this one as dropped; or put the type back'}) }}
    {%- endif -%}
    {%- set unkept = spark_cdc._orc_misfit(spark_cdc._hash_type(type), '(' ~ sql ~ ')') if column.get('in_orc') else '' -%}
    {%- set misfit = misfit ~ ' or coalesce(' ~ unkept ~ ', false)' if unkept else misfit -%}
    {%- set or_null = 'if(' ~ misfit ~ ', null, ' ~ sql ~ ')' -%}
    {{ return({'sql': or_null if column.on_misfit == 'null' else sql, 'misfit': misfit, 'problem': none}) }}
{%- endmacro -%}


{%- macro _through_json(sql, type) -%}
from_json({{ spark_cdc._json_of(sql) }}, {{ spark_cdc._literal(type) }}, {{ spark_cdc._exact_times() }})
{%- endmacro -%}


{%- macro _json_of(sql) -%}to_json({{ sql }}, {{ spark_cdc._exact_times() }}){%- endmacro -%}


{#- Spark's JSON has milliseconds only, unless it is told otherwise. -#}
{%- macro _exact_times() -%}
    {%- set pattern = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS" -%}
map('timestampFormat', {{ spark_cdc._literal(pattern ~ 'XXX') }}, 'timestampNTZFormat', {{ spark_cdc._literal(pattern) }})
{%- endmacro -%}


{#- An instant as it was on the wall clock of a zone. -#}
{%- macro _wall_clock(sql, timezone) -%}
timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, {# -#}
unix_micros(from_utc_timestamp({{ sql }}, {{ spark_cdc._literal(timezone) }})) / cast(1000000 as decimal(7, 0)))
{%- endmacro -%}
