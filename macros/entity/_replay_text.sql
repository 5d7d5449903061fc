{#- The var spark_cdc_replay as it stands in the --vars of a command that a message names, behind others; an empty text outside of a
    replay. -#}
{%- macro _replay_text() -%}
    {%- set replay = spark_cdc._replay() -%}
    {%- if replay is not none -%}
        {%- set is_date = replay['from'].strftime('%H%M%S') == '000000' -%}
        , spark_cdc_replay: {from: {{ replay['from'].strftime('%Y-%m-%d' if is_date else '%Y-%m-%d %H:%M:%S') }}
        {{- ', source: archive' if replay.source == 'archive' else '' }}}
    {%- endif -%}
{%- endmacro -%}
