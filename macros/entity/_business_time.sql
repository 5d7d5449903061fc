{#- The business date of this run, from the var `business_date`, which YAML may have read as a date, a timestamp
    or text. Returns a datetime (midnight for a date), or none where the var is missing or no such time;
    validate() reports that at the start of a run. -#}
{%- macro _business_time(value=var('business_date', none)) -%}
    {%- if value is none or value is number -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set pattern = '([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?)?' -%}
    {%- set match = modules.re.fullmatch(pattern, value | string | trim) -%}
    {%- if not match -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set parts = [] -%}
    {%- for part in match.groups('0') -%}
        {%- do parts.append(part | int) -%}
    {%- endfor -%}
    {%- set days = [31, 29 if parts[0] % 4 == 0 and (parts[0] % 100 != 0 or parts[0] % 400 == 0) else 28,
                    31, 30, 31, 30, 31, 31, 30, 31, 30, 31] -%}
    {%- if parts[0] < 1 or not 1 <= parts[1] <= 12 or not 1 <= parts[2] <= days[parts[1] - 1]
            or parts[3] > 23 or parts[4] > 59 or parts[5] > 59 -%}
        {{ return(none) }}
    {%- endif -%}
    {{ return(modules.datetime.datetime(*parts)) }}
{%- endmacro -%}
