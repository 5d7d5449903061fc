{#- What is wrong with what operations on loads, and views, need of an entity: its name, and its columns with their types and roles. All else is for loads, and a
    wrong setting must not keep anybody from an undo. Arguments as of _entity_problems(). Returns a list of texts. -#}
{%- macro _needed_problems(name, node) -%}
    {%- set node = spark_cdc._needed_node(node, is_bare=true) -%}
    {%- set settings, rules = spark_cdc._settings_of(node), spark_cdc._known_settings().entity -%}
    {%- set events = settings.get('events') -%}
    {%- set needed = {} -%}
    {%- for setting in spark_cdc._needed_settings() -%}{%- do needed.update({setting: rules[setting]}) -%}{%- endfor -%}
    {%- set problems = spark_cdc._entity_name_problems(name)
        + spark_cdc._setting_problems('', settings, needed, settings.get('load_type'))
        + spark_cdc._column_problems(spark_cdc._columns_of(node), dict(settings, source={'format': 'parquet'}))
        + spark_cdc._broken({'formats': spark_cdc._event_formats() | join(', ')}, [
            (settings.get('load_type') == 'events' and (events is not mapping or not spark_cdc._adapter(events.get('format'))),
             'events.format is missing, or no macro knows it: name the format of the events, one of %(formats)s'),
        ]) -%}
    {%- set named = [] -%}
    {%- for problem in problems -%}{%- do named.append(name ~ ': ' ~ problem ~ ' (in the YAML of stg_' ~ name ~ ').') -%}{%- endfor -%}
    {{ return(named) }}
{%- endmacro -%}


{#- The settings without which nobody knows what the ledger is. -#}
{%- macro _needed_settings() -%}{{ return(['load_type', 'business_date_type', 'events', 'dropped', 'file_format']) }}{%- endmacro -%}


{#- A node of stg_<entity> without the settings that are wrong, but for those that are needed: what is not there has its default. Loads don't get so far, since they
    are refused for each wrong setting. Argument: is_bare (whether columns keep nothing but role and secrecy). -#}
{%- macro _needed_node(node, is_bare=false) -%}
    {%- set given, known, usable = spark_cdc._settings_of(node), spark_cdc._known_settings(), {} -%}
    {%- for name, value in given.items() if name in known.entity -%}
        {%- if name in spark_cdc._needed_settings() or not spark_cdc._setting_problems('', {name: value}, {name: known.entity[name]}) -%}
            {%- do usable.update({name: value}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set columns, kept = [], ['role', 'sensitive', 'pseudonymize', 'pseudonym_domain', 'mask'] -%}
    {%- for column in spark_cdc._columns_of(node) -%}
        {%- set meta = {} -%}
        {%- for name, value in spark_cdc._meta_of(column).items()
                if name in kept or not is_bare and name in known.column and not spark_cdc._setting_problems('', {name: value}, {name: known.column[name]}) -%}
            {%- do meta.update({name: value}) -%}
        {%- endfor -%}
        {%- do columns.append(dict(column, meta=meta, config={})) -%}
    {%- endfor -%}
    {%- if spark_cdc._cluster_problems(columns, spark_cdc._names(usable.get('cluster_by'))) -%}{%- do usable.pop('cluster_by') -%}{%- endif -%}
    {%- if usable.get('events') is mapping -%}
        {%- set events = {} -%}
        {%- for name, value in usable.events.items()
                if name not in known.events or not spark_cdc._setting_problems('', {name: value}, {name: known.events[name]}) -%}
            {%- do events.update({name: value}) -%}
        {%- endfor -%}
        {%- do usable.update({'events': events}) -%}
    {%- endif -%}
    {{ return(dict(node, meta={'spark_cdc': usable}, config={}, columns=columns)) }}
{%- endmacro -%}
