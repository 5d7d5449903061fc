{#- The partitions of each load of a table, as texts such as business_date=2024-03-01/load_id=…/operation=I. Of cdc_loads those of an entity. -#}
{%- macro _partitions_by_load(table, entity=none) -%}
    {%- set partitions = {} -%}
    {%- for row in spark_cdc._query(spark_cdc._partitions_sql(spark_cdc._own(table), entity)) -%}
        {%- do partitions.setdefault(modules.re.search('load_id=([^/]+)', row.partition).group(1), []).append(row.partition) -%}
    {%- endfor -%}
    {{ return(partitions) }}
{%- endmacro -%}


{#- Iceberg lists them in a table of its own; Delta tells them by its rows, of which no column is read. -#}
{%- macro _partitions_sql(table, entity=none) -%}
{%- set format = spark_cdc._table_format(table) -%}
{%- if format is none -%}
show partitions {{ table }}{{ " partition (entity = '" ~ entity ~ "')" if entity }}
{%- else -%}
{%- set is_iceberg = format == 'iceberg' -%}
{%- set parts = [] -%}
{%- for name in spark_cdc._partition_names(table) -%}
    {%- do parts.append("concat('" ~ name ~ "=', " ~ ('partition.' if is_iceberg) ~ name ~ ')') -%}
{%- endfor -%}
select distinct concat_ws('/', {{ parts | join(', ') }}) as partition
from {{ table }}{{ '.partitions' if is_iceberg }}
{%- endif -%}
{%- endmacro -%}


{#- The partition columns of a ledger, or of an <entity>_events. -#}
{%- macro _partition_names(table) -%}
    {{ return(['business_date', 'load_id'] + (['operation'] if '_ledger' in table.identifier else [])) }}
{%- endmacro -%}


{#- The statement that drops partitions, given as such texts. Of whole partitions table formats delete no row, but take the files off their list. -#}
{%- macro _drop_partitions_sql(table, partitions) -%}
{%- set table, texts = spark_cdc._own(table), [] -%}
{%- set format = spark_cdc._table_format(table) -%}
{%- for partition in partitions -%}
    {%- set values = [] -%}
    {%- for part in partition.split('/') -%}
        {%- do values.append(part.split('=')[0] ~ ' = ' ~ spark_cdc._literal(part.split('=')[1])) -%}
    {%- endfor -%}
    {%- do texts.append(values | join(' and ') if format else 'partition (' ~ values | join(', ') ~ ')') -%}
{%- endfor -%}
{{ 'delete from ' ~ table ~ '\nwhere' if format else 'alter table ' ~ table ~ ' drop if exists' }}
    {{ texts | join('\n    or ' if format else ',\n    ') }}
{%- endmacro -%}
