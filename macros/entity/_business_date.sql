{#- The business date of this run as it was given: the var `business_date`, else the environment variable SPARK_CDC_BUSINESS_DATE: a date for all
    entities, or a date for each. Argument: name (of the entity). Returns the value, which nobody has checked; none where there is none. -#}
{%- macro _business_date(name) -%}
    {%- set given = spark_cdc._of_run('business_date', 'SPARK_CDC_BUSINESS_DATE') -%}
    {{ return(given.get(name) if given is mapping else given) }}
{%- endmacro -%}
