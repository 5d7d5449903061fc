{#- The business times that backfill() is given, in order and once each. Argument: dates (a date, a range FIRST..LAST of days, or a list of such). -#}
{%- macro _backfill_times(dates) -%}
    {%- set times, wrong = [], [] -%}
    {%- for text in ([dates] if dates is string or dates is not iterable else dates) -%}
        {%- set ends = (text | string).split('..') -%}
        {%- set first, last = spark_cdc._business_time(ends[0]), spark_cdc._business_time(ends[-1]) -%}
        {%- if ends | length > 2 or first is none or last is none or last < first
                or (ends | length == 2 and (first.strftime('%H%M%S') ~ last.strftime('%H%M%S')) != '000000000000') -%}
            {%- do wrong.append(text | string) -%}
        {%- else -%}
            {%- for at in range((last - first).days + 1) -%}{%- do times.append(first + modules.datetime.timedelta(days=at)) -%}{%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if wrong or not times -%}
        {%- do exceptions.raise_compiler_error(
            'spark_cdc.backfill: dates has ' ~ (wrong | join(', ') or 'nothing') ~ '. Accepted are dates that exist, such as 2024-01-31 or '
            ~ "'2024-01-31 10:15:00', and ranges of days whose first is not after the last, such as 2024-01-01..2024-12-31. Nothing was written."
        ) -%}
    {%- endif -%}
    {{ return(times | unique | sort) }}
{%- endmacro -%}
