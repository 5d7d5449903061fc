{#- What the load read that this one takes the place of; none where it read no feed. Loads that compact has squashed stand in the record of what it wrote. -#}
{%- macro _change_feed_of_replaced(run) -%}
    {%- set replaced = run.load.replaced | last -%}
    {%- set record = spark_cdc._load_records(run.ledger, [replaced]).get(replaced) -%}
    {%- if record -%}{{ return(record.get('feed')) }}{%- endif -%}
    {%- set histories = spark_cdc._loads_with(spark_cdc._head(run, is_planned=true).loads, 'is_history') -%}
    {%- for squashed in spark_cdc._load_records(run.ledger, histories).values() if replaced in squashed.get('feeds', {}) -%}
        {{ return(squashed.feeds[replaced]) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}
