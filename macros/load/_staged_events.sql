{#- Where the steps of a load find its events, and what these are like. Events that are read again from their source are a temporary view, as long
    as nothing but plain rows is in it: the types are the declared ones, and no event is rejected. The audit holds that the files are what they
    were. All others are written into <entity>_events, so that they are cast and judged once.
    Arguments: run (of _ledger_query()), written (relation <entity>_events, which holds them unless they are read again). Returns a dictionary:
    relation, summary (of _summarized()), noted (what the record of the load says of it). -#}
{%- macro _staged_events(run, written) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- set partition = spark_cdc._events_of_load(entity, written, load) -%}
    {%- if not spark_cdc._is_read_again(entity) -%}
        {{ return({'relation': partition, 'summary': spark_cdc._summarized(run, partition), 'noted': {}}) }}
    {%- endif -%}
    {%- set files = spark_cdc._land_load(entity, spark_cdc._landing_source(entity), run.time) -%}
    {%- set noted = {'files': spark_cdc._noted_files(files)} -%}
    {%- if spark_cdc._is_typed_as_declared(entity) -%}
        {%- set view = spark_cdc._staged_view(entity) -%}
        {%- do spark_cdc._create_staged_view(entity) -%}
        {%- set summary = spark_cdc._event_summary(run, view) -%}
        {%- if not summary.rejected -%}
            {{ return({'relation': view, 'summary': summary, 'noted': dict(noted, read_again=true)}) }}
        {%- endif -%}
    {%- endif -%}
    {%- set columns = spark_cdc._settled_events(run, load) -%}
    {%- do spark_cdc._set_session(run.events, spark_cdc._is_small_load(load, files)) -%}
    {%- set sql = spark_cdc._event_rows_sql(entity, load, '(\n' ~ spark_cdc._stage_events_sql(entity, spark_cdc._landed_view(entity)) ~ '\n) as staged') -%}
    {%- do run_query(spark_cdc._write_rows_sql(run.events, columns, ['business_date', 'load_id'], sql, 'events_of_load')) -%}
    {{ return({'relation': partition, 'summary': spark_cdc._event_summary(run, partition), 'noted': noted}) }}
{%- endmacro -%}


{%- macro _staged_view(entity) -%}{{ return('staged_' ~ entity.name) }}{%- endmacro -%}


{#- Whether what landed (in this session) has the declared types, so that no column is cast and none can lose anything. -#}
{%- macro _is_typed_as_declared(entity) -%}
    {%- set types = {} -%}
    {%- for found in spark_cdc._query('describe ' ~ spark_cdc._landed_view(entity)) -%}
        {%- do types.update({found.col_name | lower: spark_cdc._plain_type(found.data_type)}) -%}
    {%- endfor -%}
    {%- set cast = [] -%}
    {%- for column in entity.columns if column.get('encoding') or types.get(column.from | lower) != spark_cdc._plain_type(column.data_type) -%}
        {%- do cast.append(column.name) -%}
    {%- endfor -%}
    {{ return(not cast) }}
{%- endmacro -%}


{#- Makes what landed readable as events, with the columns of _event_columns() and, where _has_place(), event_place; the note says no more than whether an
    event is rejected. Arguments: entity, is_accepted (whether it is known that none is). -#}
{%- macro _create_staged_view(entity, is_accepted=false) -%}
    {%- set columns = [] -%}
    {%- for column in entity.columns -%}{%- do columns.append(dict(column, is_cast=false)) -%}{%- endfor -%}
    {%- set typed = dict(entity, columns=columns) -%}
    {%- set faults = [] if is_accepted else spark_cdc._event_note_faults(typed) | map(attribute='condition') | list -%}
    {%- set note = "if(\n        " ~ faults | join('\n        or ') ~ ",\n        'rejected', null\n    )" if faults else 'cast(null as string)' -%}
    {%- do run_query('create or replace temporary view ' ~ spark_cdc._staged_view(entity) ~ ' as\n'
        ~ spark_cdc._stage_events_sql(typed, spark_cdc._landed_view(entity), note)) -%}
{%- endmacro -%}
