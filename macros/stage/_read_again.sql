{#- Whether events may be read again instead of being written into <entity>_events first: where nobody reads them later (no archive), and where the
    source is files with typed columns, of which Spark reads only those that a step asks for. A model stg_<entity> that does more than stage() is read as it is. -#}
{%- macro _can_be_read_again(entity) -%}
    {%- set events, source = entity.events, entity.source -%}
    {{ return(
        (source.format in ['parquet', 'orc'] or source.format == 'change_feed' and events.format == 'delta_cdf') and not source.text and not events.archive and not events.is_message and not events.unique_keys
        and events.format != 'full_snapshot' and spark_cdc._is_plainly_staged(entity.name)
    ) }}
{%- endmacro -%}


{%- macro _read_again_view(entity) -%}{{ return('staged_' ~ entity.name) }}{%- endmacro -%}


{#- Whether what landed (in this session) has the declared types, so that no column is cast and none can lose anything. -#}
{%- macro _is_read_again_as_typed(entity) -%}
    {%- set types = {} -%}
    {%- for found in spark_cdc._query('describe ' ~ spark_cdc._landed_view(entity)) -%}
        {%- do types.update({found.col_name | lower: spark_cdc._plain_type_shown(found.data_type)}) -%}
    {%- endfor -%}
    {%- set cast = [] -%}
    {%- for column in entity.columns if column.get('encoding')
            or column.in_orc and spark_cdc._orc_misfit(spark_cdc._hash_type(column.data_type), '') or types.get(column.from | lower) != spark_cdc._plain_type_shown(column.data_type) -%}
        {%- do cast.append(column.name) -%}
    {%- endfor -%}
    {{ return(not cast) }}
{%- endmacro -%}


{#- Makes what landed readable as events, with the columns of _event_columns() and, where _has_place(), step__place; the note says no more than whether an
    event is rejected. Arguments: entity, is_accepted (whether it is known that none is). -#}
{%- macro _create_read_again_view(entity, is_accepted=false) -%}
    {%- set columns = [] -%}
    {%- for column in entity.columns -%}{%- do columns.append(dict(column, is_cast=false)) -%}{%- endfor -%}
    {%- set typed = dict(entity, columns=columns) -%}
    {%- set faults = [] if is_accepted else spark_cdc._event_note_faults(typed) | map(attribute='condition') | list -%}
    {%- set note = "if(\n        " ~ faults | join('\n        or ') ~ ",\n        'rejected', null\n    )" if faults else 'cast(null as string)' -%}
    {%- do spark_cdc._send('create or replace temporary view ' ~ spark_cdc._read_again_view(entity) ~ ' as\n'
        ~ spark_cdc._stage_events_sql(typed, spark_cdc._landed_view(entity), note)) -%}
{%- endmacro -%}
