{#- Everything the macros need to know of an entity, read from the YAML of `stg_<name>` and completed with the
    defaults. Nothing is checked here: validate() has done that at the start of the run.
    Returns a dictionary: name, load_type, eff_type (type of eff_start_date), deleted_when, timezone, source
    {format, path, options, text, date_column, on_missing_column, on_unexpected_column}, events (of
    _event_settings(); none for other load types), dropped (columns that are stored no more, in lower case), checkpoint {changed_share, loads, rows}, guards (of _guards()), quarantine
    (kinds of rejected rows that are set aside), file_format, and lists of columns: columns (all, as declared, and those that a
    change-event format adds), stored (without control columns),
    key_columns, compared, ignored. A column is a dictionary: name, data_type, role, nullable, from, format, encoding,
    optional (whether the source may lack it), was (former names), default, on_misfit, sql (the name, quoted where it must be). -#}
{%- macro _entity(name) -%}
    {%- set node = spark_cdc.entity_node(name) -%}
    {%- if node is none -%}
        {% do exceptions.raise_compiler_error(
            "spark_cdc: the entity '" ~ name ~ "' has no model stg_" ~ name ~ ", where its columns and settings are "
            ~ "described. Write it, or let `spark-cdc new " ~ name ~ " --columns ...` do so."
        ) %}
    {%- endif -%}
    {{ return(spark_cdc._described_entity(name, node)) }}
{%- endmacro -%}


{#- The dictionary of an entity, from its node. -#}
{%- macro _described_entity(name, node) -%}
    {%- set settings = spark_cdc._settings_of(node) -%}
    {%- set source = settings.get('source') or {} -%}
    {%- set columns = spark_cdc._described_columns(node) -%}
    {%- set events = spark_cdc._event_settings(settings, columns) if settings.get('load_type') == 'events' else none -%}
    {%- if events -%}
        {%- do columns.extend(events.technical) -%}
    {%- endif -%}
    {%- set checkpoint = dict(var('spark_cdc_checkpoint', {'changed_share': 0.2, 'loads': 50, 'rows': 1000000})) -%}
    {%- do checkpoint.update(settings.get('checkpoint') or {}) -%}
    {%- set stored = columns | rejectattr('role', 'equalto', 'control') | list -%}
    {{ return({
        'name': name,
        'load_type': settings.get('load_type'),
        'eff_type': 'timestamp_ntz' if settings.get('business_date_type', 'date') == 'timestamp' else 'date',
        'deleted_when': settings.get('deleted_when'),
        'timezone': settings.get('timezone', 'UTC'),
        'source': {
            'format': source.get('format', 'csv'),
            'path': source.get('path'),
            'options': source.get('options') or {},
            'text': source.get('text', source.get('format', 'csv') in ['csv', 'json'] or (events or {}).get('is_message', false)),
            'date_column': source.get('date_column'),
            'on_missing_column': source.get('on_missing_column', 'error'),
            'on_unexpected_column': 'ignore' if spark_cdc._is_lifted(name, 'unexpected_columns') else source.get('on_unexpected_column', 'error'),
        },
        'events': events,
        'dropped': spark_cdc._names(settings.get('dropped')) | map('lower') | list,
        'checkpoint': checkpoint,
        'guards': spark_cdc._guards(name, settings),
        'quarantine': spark_cdc._quarantine(name, settings),
        'file_format': settings.get('file_format') or spark_cdc._default_file_format(),
        'columns': columns,
        'stored': stored,
        'key_columns': columns | selectattr('role', 'equalto', 'key') | list,
        'compared': columns | selectattr('role', 'equalto', 'compared') | list,
        'ignored': columns | selectattr('role', 'equalto', 'ignore') | list,
    }) }}
{%- endmacro -%}


{#- The declared columns of an entity, completed with the defaults. -#}
{%- macro _described_columns(node) -%}
    {%- set columns = [] -%}
    {%- for column in spark_cdc._columns_of(node) -%}
        {%- set meta = spark_cdc._meta_of(column) -%}
        {%- set role = meta.get('role', 'compared') -%}
        {%- do columns.append({
            'name': column['name'],
            'data_type': (column.get('data_type') or '') | string | trim | lower,
            'role': role,
            'nullable': meta.get('nullable', role != 'key'),
            'from': meta.get('from', column['name']) | string,
            'format': meta.get('format'),
            'encoding': meta.get('encoding'),
            'optional': false,
            'was': spark_cdc._names(meta.get('was')),
            'default': meta.get('default'),
            'on_misfit': meta.get('on_misfit', 'error'),
            'sql': spark_cdc._quote(column['name']),
        }) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- The columns of a node as a list of dictionaries: dbt's graph has them by name, a YAML entry as a list. -#}
{%- macro _columns_of(node) -%}
    {%- set columns = node.get('columns') or [] -%}
    {{ return(columns.values() | list if columns is mapping else columns) }}
{%- endmacro -%}


{#- `meta` of a node or column, wherever it was written: under `meta` or under `config.meta`. -#}
{%- macro _meta_of(item) -%}
    {%- set meta = dict(item.get('meta') or {}) -%}
    {%- do meta.update((item.get('config') or {}).get('meta') or {}) -%}
    {{ return(meta) }}
{%- endmacro -%}


{#- The project's own part of a node's `meta`. -#}
{%- macro _settings_of(node) -%}
    {{ return(spark_cdc._meta_of(node).get('spark_cdc') or {}) }}
{%- endmacro -%}


{#- One name or a list of names, as a list of texts. -#}
{%- macro _names(given) -%}
    {%- if given is none -%}{{ return([]) }}{%- endif -%}
    {{ return((given if given is iterable and given is not string and given is not mapping else [given]) | map('string') | list) }}
{%- endmacro -%}
