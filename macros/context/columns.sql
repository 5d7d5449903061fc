{#- The columns of a node as a list of dictionaries: dbt's graph has them by name, a YAML entry
    as a list. The meta of each is in `meta`, wherever it was written. -#}
{%- macro _columns_of(node) -%}
    {%- set given, columns = node.get('columns') or [], [] -%}
    {%- for column in (given.values() if given is mapping else given) -%}
        {%- set meta = dict(column.get('meta') or {}) -%}
        {%- do meta.update((column.get('config') or {}).get('meta') or {}) -%}
        {%- do columns.append(dict(column, meta=meta, config={})) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- The declared columns of an entity as _entity() lists them, completed with the defaults.
    Returns a list of dictionaries. -#}
{%- macro _described_columns(node) -%}
    {%- set columns, defaults = [], spark_cdc._completed({}, spark_cdc._known_settings().column) -%}
    {%- for column in spark_cdc._columns_of(node) -%}{%- do columns.append(spark_cdc._described_column(column, defaults)) -%}{%- endfor -%}
    {%- if not columns | selectattr('sensitive') | list -%}{{ return(columns) }}{%- endif -%}
    {%- set secret, keyed = spark_cdc._secret(), [] -%}
    {%- for column in columns -%}{%- do keyed.append(dict(column, secret=secret) if column.sensitive else column) -%}{%- endfor -%}
    {{ return(keyed) }}
{%- endmacro -%}


{#- A column as _entity() lists it. Arguments: column (of _columns_of()), defaults (of the
    settings of columns). Returns a dictionary. -#}
{%- macro _described_column(column, defaults) -%}
    {%- set given = column.meta -%}
    {%- set meta = dict(defaults) -%}
    {%- do meta.update(given) -%}
    {%- set pseudonym = meta.pseudonym_domain or column['name'] if meta.sensitive and meta.pseudonymize else none -%}
    {{ return({
        'name': column['name'],
        'data_type': spark_cdc._declared_type(column.get('data_type') or ''),
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
    }) }}
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


{#- Whether a name, in lower case, is one that the project gives to its own columns; an entity's
    columns may not use them. Change-event entities have more of them. -#}
{%- macro _is_reserved(name, is_events) -%}
    {%- set technical = [
        'key_hash', 'nonkey_hash', 'untracked_hash', 'operation', 'eff_start_date', 'eff_end_date', 'is_current',
        'business_date', 'load_id', 'note', 'is_deleted', 'in_checkpoint', 'since_checkpoint', 'in_last_load',
        'rejected_columns', 'rejected_reason', 'rejected_row', 'repeated_key_hash', 'repeated_rows',
        'default_operation', 'squashed_load_ids', 'load_record', 'recommitted', 'landing_problem', 'recency',
        'rejected_rules', 'rule_bits', 'broken_rules',
    ] -%}
    {%- set of_events = [
        'event_op', 'event_position', 'event_transaction', 'event_time', 'event_hash', 'event_before', 'event_after',
        'event_problem', 'event_origin', 'event_absent', 'event_unavailable', 'event_unexpected', 'event_end_position', 'event_end_time',
        'old_key_hash', 'old_alternate_hash', 'alternate_hashes', 'landing_names', 'final_position',
    ] -%}
    {%- set is_of_events = name in of_events or '__' in name and name.split('__')[0] in ['step', 'old', 'filled', 'prior'] -%}
    {{ return(name in technical or name.startswith('fault_bits') or (is_events and is_of_events)) }}
{%- endmacro -%}
