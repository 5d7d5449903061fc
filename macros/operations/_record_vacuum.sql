{#- Adds a vacuum to cdc_loads, as a row of its own. Arguments: capture, dropped (of _vacuum_entity()). -#}
{%- macro _record_vacuum(capture, dropped) -%}
    {%- set manifest = spark_cdc._published(capture) -%}
    {%- set last = manifest.loads | last | default('19700101-v-00000000') -%}
    {%- set load = {
        'load_id': last.split('-')[0] ~ '-v-' ~ spark_cdc._attempt(),
        'load_type': 'vacuum',
        'business_time': spark_cdc._load_time_text(capture.entity, last),
        'is_checkpoint': false,
        'parent': manifest.loads | last | default(none),
        'replaced': [],
        'status': 'vacuumed',
        'message': 'dropped ' ~ spark_cdc._counted(dropped | sum(attribute='files'), 'file') ~ ', ' ~ spark_cdc._bytes_text(dropped | sum(attribute='bytes'))
            ~ ', of ' ~ dropped | map(attribute='load_id') | unique | join(', '),
    } -%}
    {%- set figures = {'rows_prior': manifest.rows, 'rows_current': manifest.rows} -%}
    {%- do spark_cdc._record_load(capture.load_log, capture.entity, load, figures) -%}
{%- endmacro -%}
