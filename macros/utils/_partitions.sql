{#- The partitions of each load of a table, as texts such as business_date=2024-03-01/load_id=…/operation=I. Of cdc_loads those of an entity. -#}
{%- macro _partitions_by_load(table, entity=none) -%}
    {%- set partitions = {} -%}
    {%- for row in spark_cdc._query('show partitions ' ~ spark_cdc._own(table) ~ (" partition (entity = '" ~ entity ~ "')" if entity)) -%}
        {%- do partitions.setdefault(modules.re.search('load_id=([^/]+)', row.partition).group(1), []).append(row.partition) -%}
    {%- endfor -%}
    {{ return(partitions) }}
{%- endmacro -%}


{#- The statement that drops partitions, given as such texts. -#}
{%- macro _drop_partitions_sql(table, partitions) -%}
alter table {{ spark_cdc._own(table) }} drop if exists
    {%- for partition in partitions %}
    {%- set values = [] -%}
    {%- for part in partition.split('/') -%}
        {%- do values.append(part.split('=')[0] ~ ' = ' ~ spark_cdc._literal(part.split('=')[1])) -%}
    {%- endfor %}
    partition ({{ values | join(', ') }}){{ ',' if not loop.last }}
    {%- endfor %}
{%- endmacro -%}
