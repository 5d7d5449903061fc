{#- What is wrong with an entity's configuration. Returns a list of texts, each of which names the entity, what
    was found, what is accepted and what to do. -#}
{%- macro _entity_problems(name, node) -%}
    {%- set named = [] -%}
    {%- for problem in spark_cdc._description_problems(name, node) -%}
        {%- do named.append(name ~ ': ' ~ problem ~ ' (in the YAML of stg_' ~ name ~ ').') -%}
    {%- endfor -%}
    {{ return(named) }}
{%- endmacro -%}


{#- The same without saying where. -#}
{%- macro _description_problems(name, node) -%}
    {%- set settings = spark_cdc._settings_of(node) -%}
    {%- set rules = spark_cdc._known_settings().entity -%}
    {%- set missing = spark_cdc._missing_settings_problems(node) -%}
    {%- if missing -%}{{ return(missing) }}{%- endif -%}
    {{ return((
        spark_cdc._entity_name_problems(name)
        + spark_cdc._unknown_key_problems('meta.spark_cdc', settings, rules | list)
        + spark_cdc._setting_problems('', settings, rules, settings.get('load_type'))
        + spark_cdc._source_problems(settings.get('source') or {})
        + spark_cdc._sources_problems(node, settings)
        + spark_cdc._rules_problems(settings)
        + spark_cdc._change_feed_problems(settings)
        + spark_cdc._stream_problems(settings)
        + spark_cdc._column_problems(spark_cdc._columns_of(node), settings)
        + spark_cdc._numbers_problems(spark_cdc._columns_of(node), settings.get('source') or {}, 'source.', settings.get('load_type') == 'events'
            and spark_cdc._is_message_format((settings.get('events') if settings.get('events') is mapping else {}).get('format')))
        + spark_cdc._event_problems(node, settings)
        + spark_cdc._table_format_problems(spark_cdc._columns_of(node), settings)
        + (spark_cdc._upkeep_problems(settings) if settings.get('upkeep') is mapping else [])
    ) | unique | list) }}
{%- endmacro -%}


{#- What is wrong with the name of an entity. -#}
{%- macro _entity_name_problems(name) -%}
    {{ return(spark_cdc._broken({'name': name}, [
        (not modules.re.fullmatch('[a-z][a-z0-9_]*', name),
         "the entity's name is not plain: rename stg_%(name)s to lower-case letters, digits and _, beginning with a letter"),
        (name | length > 80,
         "the entity's name has more than 80 characters: rename stg_%(name)s to a shorter one, for its tables and views are named after it"),
    ])) }}
{%- endmacro -%}


{#- What is wrong with `source`, beyond what its rules say. -#}
{%- macro _source_problems(source) -%}
    {%- if source is not mapping -%}{{ return([]) }}{%- endif -%}  {#- reported -#}
    {%- set path = (source.get('path') or '') | string -%}
    {%- set is_table = source.get('format') == 'table' -%}
    {%- set problems = spark_cdc._broken({'path': path}, [
        (is_table and not source.get('date_column'),
         'source.format is table, but source.date_column is missing: name the column that holds the business date'),
        (not is_table and source.get('format') != 'change_feed' and not modules.re.search('[{]business_date(:[^{}]*)?[}]', path),
         "source.path is '%(path)s', without a business date: write where a date's files lie, such as landing/orders/{business_date} or "
         'landing/orders/{business_date:%%Y/%%m/%%d}'),
    ]) -%}
    {%- set format = source.get('format', 'csv') -%}
    {%- set given = {} -%}
    {%- for option, value in (source.options if source.get('options') is mapping else {}).items() -%}
        {%- do given.update({option | string | lower: value | string}) -%}
    {%- endfor -%}
    {%- set encoding = given.get('encoding', given.get('charset', '')) -%}
    {%- if format in ['csv', 'json'] and spark_cdc._is_wide_encoding(encoding) -%}
        {%- do problems.extend(spark_cdc._broken({'encoding': encoding}, [
            (format == 'json', "source.options.encoding is '%(encoding)s', but JSON is read as UTF-8: convert the files"),
            (format == 'csv' and given.get('multiline') | lower != 'true',
             "source.options.encoding is '%(encoding)s', of which Spark takes lines apart byte by byte, within characters: set "
             'source.options.multiLine: true as well'),
        ])) -%}
    {%- endif -%}
    {%- for form in modules.re.findall('[{]business_date:([^{}]*)[}]', path) if '%' not in form -%}
        {%- do problems.append("source.path is '%s', in which '%s' stands for the same folder on all dates: write codes of strftime, such as "
            '{business_date:%%Y/%%m/%%d}' % (path, form)) -%}
    {%- endfor -%}
    {%- for option, value in (source.options if source.get('options') is mapping else {}).items() if option | string | lower == 'linesep' and value in ['', none] -%}
        {%- do problems.append("source.options." ~ option ~ " is empty, for dbt drops line breaks at the end of a text: write them between single quotes, such as '\\n' or '\\r\\n'") -%}
    {%- endfor -%}
    {%- set own = ['path', 'mode', 'inferschema', 'enforceschema', 'columnnameofcorruptrecord', 'recursivefilelookup', 'ignorecorruptfiles',
                   'ignoremissingfiles'] -%}
    {%- set message = "source.options has '%s', which spark_cdc sets itself or which is no option of a Spark reader: remove it" -%}
    {%- for option in (source.options if source.get('options') is mapping else []) | map('string')
            if option | lower in own or not modules.re.fullmatch('[A-Za-z][A-Za-z0-9_.]*', option) -%}
        {%- do problems.append(message % option) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The same of the sources of other load types, which a run may have. -#}
{%- macro _sources_problems(node, settings) -%}
    {%- set sources = settings.get('sources') if settings.get('sources') is mapping else {} -%}
    {%- set names = spark_cdc._columns_of(node) | map(attribute='name') | list -%}
    {%- set problems = [] -%}
    {%- for type, source in sources.items() if source is mapping -%}
        {%- for problem in spark_cdc._source_problems(source) + spark_cdc._numbers_problems(spark_cdc._columns_of(node), source, 'source.', false) -%}{%- do problems.append(problem | replace('source.', 'sources.' ~ type ~ '.')) -%}{%- endfor -%}
        {%- for name in (source.get('columns') or {} if source.get('columns') is mapping else []) if name not in names -%}
            {%- do problems.append("sources." ~ type ~ ".columns names '" ~ name ~ "', which is no column of the entity: correct the name") -%}
        {%- endfor -%}
        {%- if type == settings.get('load_type') -%}
            {%- do problems.append('sources.' ~ type ~ " is given, but that is the entity's own load_type: write it below source") -%}
        {%- elif type == 'delta' and settings.get('load_type') == 'events' -%}
            {%- do problems.append('sources.delta is given, but an entity of change events takes full snapshots only: remove it') -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
