{#- How numbers in text are written where that is not 1234.56: what a column says, else its source. Returns a dictionary {decimal, grouping, trailing_sign}; none
    where numbers are plain, or the column is no number in text. -#}
{%- macro _numbers(column, source) -%}
    {%- set is_number = spark_cdc._hash_type(column.data_type).get('kind') in spark_cdc._numbers_kinds() -%}
    {%- set given = {} -%}
    {%- for name in ['decimal', 'grouping', 'trailing_sign'] -%}
        {%- do given.update({name: source[name] if column[name] is none else column[name]}) -%}
    {%- endfor -%}
    {%- if not is_number or column.encoding or not source.text or not given.values() | select | list -%}{{ return(none) }}{%- endif -%}
    {{ return(dict(given, decimal=given.decimal or '.')) }}
{%- endmacro -%}


{%- macro _numbers_kinds() -%}{{ return(['integer', 'decimal', 'float', 'double']) }}{%- endmacro -%}


{#- What is wrong with such settings of columns and of a source. Arguments: columns (of the YAML), source (setting), label (what stands before its names),
    is_message (whether columns come in JSON whatever the format). -#}
{%- macro _numbers_problems(columns, source, label, is_message) -%}
    {%- if source is not mapping -%}{{ return([]) }}{%- endif -%}
    {%- set names = ['decimal', 'grouping', 'trailing_sign'] -%}
    {%- set format = source.get('format', 'csv') -%}
    {%- set is_text = format in ['csv', 'json'] or source.get('text') or is_message -%}
    {%- set problems = [] -%}
    {%- for name in names if source.get(name) is not none and not is_text -%}
        {%- do problems.append(label ~ name ~ ' is given, but columns of ' ~ format ~ ' arrive typed: remove it, or set source.text: true where all '
            ~ 'columns hold text') -%}
    {%- endfor -%}
    {%- for column in columns -%}
        {%- set meta = spark_cdc._meta_of(column) -%}
        {%- set own = names | select('in', meta) | list -%}
        {%- set is_number = spark_cdc._hash_type(column.get('data_type') or '').get('kind') in spark_cdc._numbers_kinds() and not meta.get('encoding') -%}
        {%- set grouping = meta.get('grouping', source.get('grouping')) if is_number else none -%}
        {%- set values = {'name': column['name'], 'own': own | join(', '), 'type': column.get('data_type'), 'grouping': grouping,
                          'other': ',' if grouping == '.' else '.'} -%}
        {%- do problems.extend(spark_cdc._broken(values, [
            (own and not is_number, "column '%(name)s' has %(own)s, but the type %(type)s: decimal, grouping and trailing_sign are for numbers without an "
             'encoding, remove it'),
            (grouping is not none and grouping == (meta.get('decimal') or source.get('decimal') or '.'),
             "column '%(name)s' has '%(grouping)s' both as decimal and as grouping: set decimal: '%(other)s', or another grouping"),
            (grouping == '.' and (format == 'json' or is_message),
             "column '%(name)s' has grouping: '.', but in JSON the number 1.234 would be taken for 1234: remove it"),
        ])) -%}
    {%- endfor -%}
    {{ return(problems | unique | list) }}
{%- endmacro -%}
