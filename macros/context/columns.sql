{#- The columns of a node as a list of dictionaries: dbt's graph has them by name, a YAML entry
    as a list. The meta of each is in `meta`, wherever it was written. -#}
{%- macro _columns_of(node) -%}
    {%- set given, columns = node.get('columns') or [], [] -%}
    {%- for column in (given.values() if given is mapping else given) -%}
        {%- set meta = dict(column.get('meta') or {}) -%}
        {%- do meta.update((column.get('config') or {}).get('meta') or {}) -%}
        {#- dbt v2 gives a column without any the meta of its model -#}
        {%- if meta.spark_cdc is defined and meta == spark_cdc._meta_of(node) -%}{%- set meta = {} -%}{%- endif -%}
        {%- do columns.append(dict(column, meta=meta, config={})) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- A node with the columns that loads have added (source.on_unexpected_column: add) as if they
    were declared: those that its YAML has under no name. Arguments: node (whose columns are
    a list), added (names to types). -#}
{%- macro _with_added(node, added) -%}
    {%- if not added -%}{{ return(node) }}{%- endif -%}
    {%- set known = spark_cdc._names(spark_cdc._settings_of(node).get('dropped_columns')) | map('lower') | list -%}
    {%- set columns, undeclared = node.columns | list, {} -%}
    {%- for column in columns -%}
        {%- do known.extend([column.name | lower, column.meta.get('from', column.name) | string | lower]
            + spark_cdc._names(column.meta.get('renamed_from')) | map('lower') | list) -%}
    {%- endfor -%}
    {%- for name, data_type in added.items() if name | lower not in known -%}
        {%- do undeclared.update({name: data_type}) -%}
        {%- do columns.append({'name': name, 'data_type': data_type, 'meta': {}}) -%}
    {%- endfor -%}
    {{ return(dict(node, columns=columns, added=undeclared)) }}
{%- endmacro -%}


{#- The declared columns of an entity as _entity() lists them, completed with the defaults.
    Returns a list of dictionaries. -#}
{%- macro _described_columns(node) -%}
    {%- set columns, described = spark_cdc._columns_of(node), [] -%}
    {%- set known = spark_cdc._known_settings() -%}
    {%- set defaults = spark_cdc._completed({}, known.column) -%}
    {%- set secret = spark_cdc._secret() if spark_cdc._has_sensitive(columns) else none -%}
    {%- for column in columns -%}
        {%- set given, meta = column.meta, dict(defaults) -%}
        {%- do meta.update(given) -%}
        {%- set pseudonym = column['name'] if meta.pseudonymize is true else meta.pseudonymize -%}
        {%- set pseudonym = pseudonym if meta.sensitive and pseudonym else none -%}
        {%- set type = column.get('data_type') or '' -%}
        {%- do described.append(dict({
            'name': column['name'],
            'data_type': type if type in known.plain_types else spark_cdc._declared_type(type),
            'role': meta.role,
            'nullable': given.get('nullable', meta.role != 'key'),
            'from': given.get('from', column['name']) | string,
            'format': meta.format,
            'century': meta.century | int if meta.century is not none else none,
            'encoding': meta.encoding,
            'decimal': meta.decimal,
            'grouping': meta.grouping,
            'trailing_sign': meta.trailing_sign,
            'numbers': none,
            'optional': false,
            'in_orc': false,
            'renamed_from': spark_cdc._names(meta.renamed_from) if meta.renamed_from is not none else [],
            'default': meta.default,
            'on_cast_error': meta.on_cast_error,
            'null_means': meta.null_means,
            'sensitive': meta.sensitive,
            'mask': none if not meta.sensitive else 'token of ' ~ pseudonym if pseudonym else meta.mask,
            'pseudonym': pseudonym,
            'sql': spark_cdc._quote(column['name']),
        }, **({'secret': secret} if meta.sensitive else {}))) -%}
    {%- endfor -%}
    {{ return(described) }}
{%- endmacro -%}


{#- A type as it is declared, in lower case but for the names of fields. -#}
{%- macro _declared_type(data_type) -%}
    {%- set text = data_type | string | trim -%}
    {%- set type = spark_cdc._hash_type(text) if '<' in text else {} -%}
    {%- if not type or type.problem -%}{{ return(spark_cdc._plain_type(text)) }}{%- endif -%}
    {{ return(text if text == text | lower else spark_cdc._declared_type_text(type)) }}
{%- endmacro -%}


{#- The same of a type as _hash_type() returns it. -#}
{%- macro _declared_type_text(type) -%}
    {%- if type.kind == 'array' -%}
        {{ return('array<' ~ spark_cdc._declared_type_text(type.element) ~ '>') }}
    {%- elif type.kind == 'map' -%}
        {{ return('map<' ~ spark_cdc._declared_type_text(type.key) ~ ',' ~ spark_cdc._declared_type_text(type.value) ~ '>') }}
    {%- elif type.kind != 'struct' -%}
        {{ return(spark_cdc._plain_type(type.text)) }}
    {%- endif -%}
    {%- set fields = [] -%}
    {%- for field in type.fields -%}
        {%- set is_plain = field.name.replace('_', 'a').isalnum() and field.name.isascii() and not field.name.isdigit() -%}
        {%- set name = field.name if is_plain else '`' ~ field.name.replace('`', '``') ~ '`' -%}
        {%- do fields.append(name ~ ':' ~ spark_cdc._declared_type_text(field.type)) -%}
    {%- endfor -%}
    {{ return('struct<' ~ fields | join(',') ~ '>') }}
{%- endmacro -%}


{#- Those of some columns that are named, in the order of the names. -#}
{%- macro _columns_by_name(columns, names) -%}
    {%- set found = [] -%}
    {%- for name in spark_cdc._names(names) | map('lower') -%}
        {%- for column in columns if column.name | lower == name -%}{%- do found.append(column) -%}{%- endfor -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- The column that a setting names, whatever its case: one of the declared ones or one that the
    format of events adds. Returns its dictionary, or none. -#}
{%- macro _named_column(entity, name) -%}
    {{ return((spark_cdc._columns_by_name(entity.columns, [name]) + [none]) | first) }}
{%- endmacro -%}


{#- Those of some names, in lower case, that the project gives to its own columns; an entity's
    columns may not use them: what readers see, and all that begins with cdc__, as columns do that
    live within a statement or for the next load only. Change-event entities have more of them. -#}
{%- macro _reserved(names, is_events) -%}
    {%- set technical = [
        'key_hash', 'nonkey_hash', 'untracked_hash', 'operation', 'eff_start_date', 'eff_end_date', 'is_current',
        'business_date', 'load_id', 'in_checkpoint', 'since_checkpoint', 'in_last_load', 'default_operation',
        'compacted_load_ids', 'load_record', 'recommitted',
        'rejected_columns', 'rejected_rules', 'rejected_reason', 'rejected_row',
    ] -%}
    {%- set of_events = [
        'event_op', 'event_position', 'event_transaction', 'event_time', 'event_hash', 'event_before', 'event_after',
        'event_problem', 'event_origin', 'event_absent', 'event_unavailable', 'event_unexpected', 'event_end_position', 'event_end_time',
        'old_key_hash', 'old_alternate_hash', 'alternate_hashes',
    ] -%}
    {%- set reserved = [] -%}
    {%- for name in names if name in technical or name.startswith('cdc__') or is_events and name in of_events -%}
        {%- do reserved.append(name) -%}
    {%- endfor -%}
    {{ return(reserved) }}
{%- endmacro -%}
