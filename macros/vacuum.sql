{#- Drops what no manifest names any more, by metadata alone: partitions of ledgers and of archived events that were
    superseded (by a rerun, a replay, compact) or that a crash left, once they are older than a retention time. Queries
    that began before may still read them until then. Without execute it only says what it would drop.
        dbt run-operation spark_cdc.vacuum --args '{entities: [orders], execute: true}'
    A superseded load's age counts from the commit of the load that took its place, any other's from its newest file.
    Arguments: entities (list of names, or one; none for all), retention_hours, execute, force (whether a retention below
    24 hours is accepted). Returns the number of loads that were dropped, or would be. -#}
{%- macro vacuum(entities=none, retention_hours=168, execute=false, force=false) -%}
    {%- do spark_cdc._check_arguments('vacuum', {'entities': entities, 'retention_hours': retention_hours, 'execute': execute, 'force': force}) -%}
    {%- if retention_hours < 24 and not force -%}
        {% do exceptions.raise_compiler_error(
            "spark_cdc.vacuum: retention_hours is '" ~ retention_hours ~ "'; accepted are numbers from 24. A load that is being written "
            ~ 'and a query that is running are safe only while they are younger than that. Where nothing loads and nobody '
            ~ 'reads, give force: true (--force). Nothing was dropped.'
        ) %}
    {%- endif -%}
    {%- set dropped = [] -%}
    {%- for capture in spark_cdc._captures('vacuum', entities) -%}
        {%- do dropped.extend(spark_cdc._vacuum_entity(capture, retention_hours, execute)) -%}
    {%- endfor -%}
    {%- do log(
        'vacuum: ' ~ ('dropped ' if execute else 'would drop ') ~ spark_cdc._counted(dropped | length, 'load') ~ ' with '
        ~ spark_cdc._counted(dropped | sum(attribute='partitions'), 'partition') ~ ', ' ~ spark_cdc._counted(dropped | sum(attribute='files'), 'file') ~ ', '
        ~ spark_cdc._bytes_text(dropped | sum(attribute='bytes')) ~ ('' if execute or not dropped else '. Nothing was dropped: that takes execute: true (--execute)'),
        info=true
    ) -%}
    {{ return(dropped | length) }}
{%- endmacro -%}
