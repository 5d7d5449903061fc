{#- Whether the change events of an entity are read from their source by each step of a load at hand, as far as nothing but plain rows is in it: then
    <entity>_ledger lands them (_staged_events()). -#}
{%- macro _is_read_again(entity) -%}
    {{ return(
        spark_cdc._can_be_read_again(entity) and spark_cdc._is_load_command()
        and spark_cdc._business_time_of(entity.name) is not none and not spark_cdc._is_archive_replay()
    ) }}
{%- endmacro -%}


{#- Whether events may be read again instead of being written into <entity>_events first: where nobody reads them later (no archive), and where the
    source is files with typed columns, of which Spark reads only those that a step asks for. -#}
{%- macro _can_be_read_again(entity) -%}
    {%- set events, source = entity.events, entity.source -%}
    {{ return(
        source.format in ['parquet', 'orc'] and not source.text and not events.archive and not events.is_message and not events.unique_keys
        and events.format != 'full_snapshot'
    ) }}
{%- endmacro -%}
