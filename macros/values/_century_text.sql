{#- A time whose year has two digits, which Spark puts into 2000 to 2099, as text with the year of
    the hundred that the column names. -#}
{%- macro _century_text(column, raw) -%}
{%- set clock = spark_cdc._wall_clock_text(spark_cdc._cast_instant(raw, column.format, 'UTC')) -%}
{%- set hundred, first = '%02d' | format(column.century // 100), '%02d' | format(column.century % 100) -%}
concat(if(substr({{ clock }}, 3, 2) >= '{{ first }}', '{{ hundred }}', '{{ '%02d' | format(column.century // 100 + 1) }}'), substr({{ clock }}, 3))
{%- endmacro -%}
