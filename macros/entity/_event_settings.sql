{#- The settings of a change-event entity, completed with the defaults. Arguments: settings (of meta.spark_cdc),
    columns (the declared ones). Returns what stands under `events` and: format, order and tie_breaker (lists of
    columns), insert_only, unique_keys (lists of columns), unavailable (text that stands for an unchanged value, or
    none), tombstone_days, archive, is_message (whether the format consists of JSON documents), landed_row (whether its
    adapter hands on the row that it read), technical (the columns
    that the format adds to the declared ones, as control columns). -#}
{%- macro _event_settings(settings, columns) -%}
    {%- set events = dict(settings.get('events') or {}) -%}
    {%- set format = events.get('format') | string -%}
    {%- set described = spark_cdc._adapter(format, '_columns') -%}
    {%- set about = spark_cdc._adapter_format(format) -%}
    {%- do events.update({
        'format': format,
        'insert_only': events.get('insert_only', false),
        'unavailable': events.get('unavailable', about.unavailable),
        'tombstone_days': events.get('tombstone_days', 30),
        'archive': events.get('archive', false),
        'is_message': described is none,
        'landed_row': about.landed_row,
        'order': spark_cdc._columns_by_name(columns, events.get('order')),
        'tie_breaker': spark_cdc._columns_by_name(columns, events.get('tie_breaker')),
    }) -%}
    {%- set unique_keys = [] -%}
    {%- for names in events.get('unique_keys') or [] -%}
        {%- do unique_keys.append(spark_cdc._columns_by_name(columns, names)) -%}
    {%- endfor -%}
    {%- do events.update({'unique_keys': unique_keys}) -%}

    {%- set technical = [] -%}
    {%- set declared = columns | map(attribute='name') | map('lower') | list -%}
    {%- if described is not none -%}
        {%- for column in described(dict(settings, events=events)) if column.name | lower not in declared -%}
            {%- do technical.append({
                'name': column.name, 'data_type': column.data_type, 'role': 'control', 'nullable': true,
                'from': column.name, 'format': none, 'encoding': none, 'optional': not column.required,
                'was': [], 'default': none, 'on_misfit': 'error', 'sql': spark_cdc._quote(column.name),
            }) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- do events.update({'technical': technical}) -%}
    {{ return(events) }}
{%- endmacro -%}


{#- Those of some columns that are named, in the order of the names. -#}
{%- macro _columns_by_name(columns, names) -%}
    {%- set found = [] -%}
    {%- for name in ([names] if names is string else names or []) -%}
        {%- for column in columns if column.name | lower == name | string | lower -%}
            {%- do found.append(column) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
