{#- The dictionary of an entity (see _entity), from its node. -#}
{%- macro _described_entity(name, node) -%}
    {%- set rules = spark_cdc._known_settings().entity -%}
    {%- set given = spark_cdc._settings_of(node) -%}
    {%- set settings = spark_cdc._completed(given, rules) -%}
    {%- do settings.update({'source': spark_cdc._described_source(name, settings)}) -%}
    {%- set columns = spark_cdc._described_columns(node) -%}
    {%- set events = spark_cdc._event_settings(settings, columns) if settings.load_type == 'events' else none -%}
    {%- if events -%}
        {%- do columns.extend(events.technical) -%}
    {%- endif -%}
    {%- set checkpoint = spark_cdc._completed(spark_cdc._var('spark_cdc_checkpoint'), rules.checkpoint.settings) -%}
    {%- do checkpoint.update(settings.checkpoint or {}) -%}
    {{ return({
        'name': name,
        'load_type': settings.load_type,
        'eff_type': 'timestamp_ntz' if settings.business_date_type == 'timestamp' else 'date',
        'deleted_when': settings.deleted_when,
        'timezone': settings.timezone,
        'source': settings.source,
        'events': events,
        'dropped': spark_cdc._names(settings.dropped) | map('lower') | list,
        'checkpoint': checkpoint,
        'guards': spark_cdc._guards(name, settings),
        'quarantine': spark_cdc._quarantine(name, settings),
        'file_format': settings.file_format or spark_cdc._var('spark_cdc_file_format'),
        'columns': columns,
        'stored': columns | rejectattr('role', 'equalto', 'control') | list,
        'key_columns': columns | selectattr('role', 'equalto', 'key') | list,
        'compared': columns | selectattr('role', 'equalto', 'compared') | list,
        'ignored': columns | selectattr('role', 'equalto', 'ignore') | list,
    }) }}
{%- endmacro -%}


{#- Where an entity's data lie, completed with the defaults. -#}
{%- macro _described_source(name, settings) -%}
    {%- set source = spark_cdc._completed(settings.source, spark_cdc._known_settings().entity.source.settings) -%}
    {%- set is_message = settings.load_type == 'events' and spark_cdc._is_message_format((settings.events or {}).get('format')) -%}
    {%- do source.update({'options': source.options or {}}) -%}
    {%- if source.text is none -%}
        {%- do source.update({'text': source.format in ['csv', 'json'] or is_message}) -%}
    {%- endif -%}
    {%- if spark_cdc._is_lifted(name, 'unexpected_columns') -%}
        {%- do source.update({'on_unexpected_column': 'ignore'}) -%}
    {%- endif -%}
    {{ return(source) }}
{%- endmacro -%}
