{#- Whether <entity>_ledger lands the change events of an entity, and not <entity>_events: where each step of a load at hand reads them from their source, as far as
    nothing but plain rows is in it, and where it is decided there what is read of a table's change feed (_staged_events()). -#}
{%- macro _is_landed_by_ledger(entity) -%}
    {{ return(
        (spark_cdc._can_be_read_again(entity) or entity.source.format == 'change_feed') and spark_cdc._is_load_command()
        and spark_cdc._business_time_of(entity.name) is not none and not spark_cdc._is_archive_replay()
    ) }}
{%- endmacro -%}
