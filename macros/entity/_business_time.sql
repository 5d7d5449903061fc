{#- A business date as a time. Argument: value (of _business_date(), for instance; YAML may have read it as a date, a timestamp or text).
    Returns a datetime (midnight for a date), or none where it is no such time; validate() reports that at the start of a run. -#}
{%- macro _business_time(value) -%}
    {%- set date = '(?!0000)([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])' -%}
    {%- set clock = '([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?' -%}
    {%- set match = modules.re.fullmatch(date ~ '(?:[T ]' ~ clock ~ ')?', value | string | trim) -%}
    {%- if not match -%}{{ return(none) }}{%- endif -%}
    {%- set parts = match.groups('0') | map('int') | list -%}
    {%- set year, month, day = parts[:3] -%}
    {%- set is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) -%}
    {%- set days = (29 if is_leap else 28) if month == 2 else 30 if month in [4, 6, 9, 11] else 31 -%}
    {{ return(modules.datetime.datetime(*parts) if day <= days else none) }}
{%- endmacro -%}


{#- The business time that this run loads of an entity; none as above, and where none is given. Argument: name (of the entity). -#}
{%- macro _business_time_of(name) -%}{{ return(spark_cdc._business_time(spark_cdc._business_date(name))) }}{%- endmacro -%}
