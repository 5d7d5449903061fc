{#- The replay that this run is a part of, from the var `spark_cdc_replay`; none for any other run. validate() has checked it.
    Returns a dictionary: from (datetime), source (landing or archive). -#}
{%- macro _replay() -%}
    {%- set asked = var('spark_cdc_replay', none) -%}
    {{ return({'from': spark_cdc._business_time(asked['from']), 'source': asked.get('source') or 'landing'} if asked else none) }}
{%- endmacro -%}


{#- Whether this run reads archived events instead of what landed. -#}
{%- macro _is_archive_replay() -%}{{ return((spark_cdc._replay() or {}).get('source') == 'archive') }}{%- endmacro -%}
