{#- A regular expression for the whole of a text that is taken as a date, timestamp or timestamp_ntz; Spark takes more, and makes something else of it: a
    year alone, a time of today, a date with anything behind it, years of more than four digits or before 1, digits below the microsecond. -#}
{%- macro _time_pattern(type) -%}
    {%- set day = '(?!0000)[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}' -%}
    {%- set midnight = '(00:00(:00([.]0+)?)?[zZ]?)?' -%}  {#- also no time at all behind the T -#}
    {%- set time = '[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}([.][0-9]{0,6}0*)?)?' -%}
    {%- set time = {'date': midnight, 'timestamp': time ~ '( *' ~ spark_cdc._zone_pattern() ~ ')?', 'timestamp_ntz': time}[type] -%}
    {{ return('^\\s*' ~ day ~ '([ T]' ~ time ~ ')?\\s*$') }}
{%- endmacro -%}
