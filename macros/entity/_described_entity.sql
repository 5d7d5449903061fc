{#- The dictionary of an entity (see _entity), from its node. Argument: as_declared (whether what this run says of its load type plays no part). -#}
{%- macro _described_entity(name, node, as_declared=false) -%}
    {%- set node = spark_cdc._needed_node(node) -%}
    {%- set rules = spark_cdc._known_settings().entity -%}
    {%- set given = spark_cdc._completed(spark_cdc._settings_of(node), rules) -%}
    {%- set load_type = given.load_type if as_declared else spark_cdc._load_type(name, given) -%}
    {%- set settings = dict(given, source=spark_cdc._described_source(name, given, load_type, rules.source.settings),
        file_format=given.file_format or spark_cdc._var('spark_cdc_file_format')) -%}
    {%- set declared = spark_cdc._declared_columns(node, settings, load_type) -%}
    {%- set events = spark_cdc._event_settings(settings, declared) if settings.load_type == 'events' else none -%}
    {%- set is_snapshot = events is not none and load_type == 'full' -%}
    {%- if is_snapshot -%}
        {%- set events = spark_cdc._snapshot_events(name, events) -%}
        {%- set declared = declared | rejectattr('role', 'equalto', 'control') | list -%}
    {%- endif -%}
    {%- set columns = declared + (events.technical if events else []) -%}
    {%- set checkpoint = spark_cdc._completed(spark_cdc._var('spark_cdc_checkpoint'), rules.checkpoint.settings) -%}
    {%- do checkpoint.update(settings.checkpoint or {}) -%}
    {{ return({
        'name': name,
        'load_type': load_type,
        'declared_load_type': settings.load_type,
        'eff_type': 'timestamp_ntz' if settings.business_date_type == 'timestamp' else 'date',
        'deleted_when': settings.deleted_when,
        'timezone': settings.timezone,
        'source': settings.source,
        'events': events,
        'dropped': spark_cdc._names(settings.dropped) | map('lower') | list,
        'checkpoint': checkpoint,
        'upkeep': spark_cdc._upkeep(settings),
        'cluster_by': spark_cdc._names(settings.cluster_by),
        'target_file_mb': [settings.target_file_mb | int, 1] | max,
        'expect': settings.expect,
        'priority': settings.priority,
        'guards': spark_cdc._guards(name, settings),
        'rules': spark_cdc._rules(settings),
        'quarantine': [] if is_snapshot else spark_cdc._quarantine(name, settings),
        'file_format': settings.file_format,
        'columns': columns,
        'stored': columns | rejectattr('role', 'equalto', 'control') | list,
        'key_columns': columns | selectattr('role', 'equalto', 'key') | list,
        'compared': columns | selectattr('role', 'equalto', 'compared') | list,
        'ignored': columns | selectattr('role', 'equalto', 'ignore') | list,
        'sensitive': columns | selectattr('sensitive') | list,
    }) }}
{%- endmacro -%}


{#- The columns as declared, with the names that they have in the source of this load type. A full snapshot of an entity of deltas may lack those that
    say what a delta's row does. -#}
{%- macro _declared_columns(node, settings, load_type) -%}
    {%- set columns = [] -%}
    {%- for column in spark_cdc._described_columns(node) -%}
        {%- do columns.append(dict(
            column,
            numbers=spark_cdc._numbers(column, settings.source),
            optional=column.role == 'control' and settings.load_type == 'delta' and load_type == 'full',
            in_orc=column.role != 'control' and settings.file_format == 'orc',
            **({'from': settings.source.columns[column.name] | string} if column.name in (settings.source.columns or {}) else {})
        )) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- Where an entity's data of a load type lie, completed with the defaults of some rules. -#}
{%- macro _described_source(name, settings, load_type, rules) -%}
    {%- set own = (settings.sources or {}).get(load_type) if load_type != settings.load_type else none -%}
    {%- set source = spark_cdc._completed(own or settings.source, rules) -%}
    {%- set is_message = load_type == 'events' and spark_cdc._is_message_format((settings.events or {}).get('format')) -%}
    {{ return(dict(
        source,
        options=source.options or {},
        columns=source.columns or {},
        text=source.format in ['csv', 'json'] or is_message if source.text is none else source.text,
        on_unexpected_column='ignore' if spark_cdc._is_lifted(name, 'unexpected_columns') else source.on_unexpected_column,
    )) }}
{%- endmacro -%}
