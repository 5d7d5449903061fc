{#- The replay that this run is a part of, from the var `spark_cdc_replay`; none for any other run. validate() has checked it.
    Returns a dictionary: from (datetime), source (landing or archive). -#}
{%- macro _replay() -%}
    {%- set asked = var('spark_cdc_replay', none) -%}
    {%- if not asked -%}
        {{ return(none) }}
    {%- endif -%}
    {{ return({'from': spark_cdc._business_time(asked['from']), 'source': asked.get('source') or 'landing'}) }}
{%- endmacro -%}


{#- The var as it stands in the --vars of a command that a message names, behind others; an empty text outside of a replay. -#}
{%- macro _replay_text() -%}
    {%- set replay = spark_cdc._replay() -%}
    {%- if replay is none -%}{{ return('') }}{%- endif -%}
    {{ return(
        ', spark_cdc_replay: {from: ' ~ replay['from'].strftime('%Y-%m-%d' if replay['from'].strftime('%H%M%S') == '000000' else '%Y-%m-%d %H:%M:%S')
        ~ (', source: archive' if replay.source == 'archive' else '') ~ '}'
    ) }}
{%- endmacro -%}


{#- What is wrong with the var spark_cdc_replay, for the entities (name, settings) to be loaded. Returns a list of texts. -#}
{%- macro _replay_problems(asked, value, loads) -%}
    {%- if not asked -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set example = "dbt run --vars '{business_date: 2019-06-20, spark_cdc_replay: {from: 2019-06-19}}'" -%}
    {%- set first = spark_cdc._business_time(asked.get('from')) if asked is mapping else none -%}
    {%- if first is none -%}
        {{ return([
            'the var spark_cdc_replay is ' ~ asked ~ '. Accepted is {from: DATE}, the first business date that is loaded anew, and beside it '
            ~ 'source: landing or archive, for instance ' ~ example ~ '.'
        ]) }}
    {%- endif -%}
    {%- set problems = [] -%}
    {%- for key in asked if key not in ['from', 'source'] -%}
        {%- do problems.append("the var spark_cdc_replay has '" ~ key ~ "', which is unknown. Accepted are from and source, for instance " ~ example ~ '.') -%}
    {%- endfor -%}
    {%- if (asked.get('source') or 'landing') not in ['landing', 'archive'] -%}
        {%- do problems.append("spark_cdc_replay.source is '" ~ asked.source ~ "'. Accepted are landing and archive.") -%}
    {%- endif -%}
    {%- if var('spark_cdc_wipe', []) -%}
        {%- do problems.append('spark_cdc_replay and spark_cdc_wipe are given at once. A replay from before the first load builds everything anew; leave one of them out.') -%}
    {%- endif -%}
    {%- set time = spark_cdc._business_time(value) -%}
    {%- if time is not none and time < first -%}
        {%- do problems.append(
            "the business date '" ~ value ~ "' lies before the first of the replay, '" ~ asked['from'] ~ "'. Give a date from there on, or set "
            ~ 'spark_cdc_replay.from to the earliest date that is to be loaded anew.'
        ) -%}
    {%- endif -%}
    {%- for name, settings in loads -%}
        {%- if (first.hour or first.minute or first.second) and settings.get('business_date_type', 'date') != 'timestamp' -%}
            {%- do problems.append(name ~ ": spark_cdc_replay.from is '" ~ asked['from'] ~ "', but this entity is loaded per date. Give a date.") -%}
        {%- endif -%}
        {%- if asked.get('source') == 'archive' and not (settings.get('events') or {}).get('archive') -%}
            {%- do problems.append(
                name ~ ': spark_cdc_replay.source is archive, but only entities of change events with events.archive: true have one. Select those, '
                ~ 'or leave source out: the landing is read.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
