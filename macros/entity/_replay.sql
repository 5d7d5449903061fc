{#- The replay that this run is a part of, from the var `spark_cdc_replay`; none for any other run. validate() has checked it.
    Returns a dictionary: from (datetime), source (landing or archive). -#}
{%- macro _replay() -%}
    {%- set asked = var('spark_cdc_replay', none) -%}
    {{ return({'from': spark_cdc._business_time(asked['from']), 'source': asked.get('source') or 'landing'} if asked else none) }}
{%- endmacro -%}
