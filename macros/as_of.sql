{#- What was true on a date, as a query to select from:
    select * from ({{ '{{' }} spark_cdc.as_of(ref('orders_versions'), '2024-03-02') {{ '}}' }}) as orders
    Arguments: versions (relation of <entity>_versions), date (date or timestamp, as text). Returns a query. -#}
{%- macro as_of(versions, date) -%}
    {%- set time = spark_cdc._business_time(date) -%}
    {%- if time is none -%}
        {% do exceptions.raise_compiler_error(
            "spark_cdc.as_of: '" ~ date ~ "' is no date that exists. Accepted are YYYY-MM-DD and 'YYYY-MM-DD HH:MM[:SS]'."
        ) %}
    {%- endif -%}
    {%- set literal = "timestamp_ntz'" ~ time.strftime('%Y-%m-%d %H:%M:%S') ~ "'" -%}
select *
from {{ versions }}
where
    eff_start_date <= {{ literal }}
    and (eff_end_date > {{ literal }} or eff_end_date is null)
{%- endmacro -%}
