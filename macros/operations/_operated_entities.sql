{#- The entities that vacuum, compact and verify work on, and what is there of them. Arguments as of _named_entities(). Returns its
    dictionaries with events, load_log (relations), nodes (dbt's models of the entity, by relation name) and catalog (see
    _catalog_of()). -#}
{%- macro _operated_entities(operation, names=none) -%}
    {%- set operated = [] -%}
    {%- for named in spark_cdc._named_entities(operation, names) -%}
        {%- do operated.append(dict(
            named,
            events=spark_cdc._relation_in(named.schema, named.entity.name ~ '_events'),
            load_log=ref('spark_cdc', 'cdc_loads'),
            nodes=spark_cdc._models_of(named.ledger_node, named.entity.name),
            catalog=spark_cdc._catalog_of(named.schema, named.entity.name),
        )) -%}
    {%- endfor -%}
    {{ return(operated) }}
{%- endmacro -%}


{#- dbt's models of an entity (committed, current, …), by their names. -#}
{%- macro _models_of(ledger_node, name) -%}
    {%- set models = {} -%}
    {%- for node in graph.nodes.values()
            if node.resource_type == 'model' and node.name.startswith(name ~ '_') and node.package_name == ledger_node.package_name -%}
        {%- do models.update({node.name: node}) -%}
    {%- endfor -%}
    {{ return(models) }}
{%- endmacro -%}


{#- What the metastore knows of an entity's tables and views and the claims of its commits at this moment, read anew at each call. Returns a dictionary
    from the name to: type (TABLE or VIEW), text (of a view), location (of a table). -#}
{%- macro _catalog_of(schema, name) -%}
    {%- set catalog = {} -%}
    {%- for row in spark_cdc._query('show table extended in ' ~ spark_cdc._quote(schema) ~ " like '" ~ name ~ "_*'") -%}
        {%- set information = row['information'] -%}
        {%- set text = modules.re.search('\nView Text: (.*?)\n(?=View (?:Original Text|Schema Mode|Catalog))', information, modules.re.DOTALL) -%}
        {%- set location = modules.re.search('\nLocation: ([^\n]+)', information) -%}
        {%- do catalog.update({row['tableName']: {
            'type': 'VIEW' if '\nType: VIEW\n' in information else 'TABLE',
            'text': text.group(1) if text else '',
            'location': location.group(1) if location else none,
        }}) -%}
    {%- endfor -%}
    {%- set committed = spark_cdc._relation_in(schema, name ~ '_committed') -%}
    {%- for sequence in spark_cdc._views_of(committed, name).claims -%}
        {%- set claim = spark_cdc._claim(committed, name, sequence) -%}
        {%- do catalog.update({claim.identifier: {'type': 'VIEW', 'text': spark_cdc._view_text(claim), 'location': none}}) -%}
    {%- endfor -%}
    {{ return(catalog) }}
{%- endmacro -%}


{#- The names of all loads that a text mentions. -#}
{%- macro _loads_in(text) -%}
    {{ return(modules.re.findall('[0-9]{8}(?:T[0-9]{6})?-[a-z]+-[0-9a-f]{8}', text) | unique | list) }}
{%- endmacro -%}


{#- The files of a table, as a temporary view that the caller reads once: path, length, written_at, and load_id and
    operation as the path names them. Folders without a partition are found too; no file is opened. -#}
{%- macro _list_files(location) -%}
    {%- do run_query(
        'create or replace temporary view spark_cdc_files using binaryFile options (path ' ~ spark_cdc._literal(location)
        ~ ", recursiveFileLookup 'true')"
    ) -%}
    {{ return(
        "(select path, length, modificationTime as written_at, regexp_extract(path, '/load_id=([^/]+)/', 1) as load_id, "
        ~ "regexp_extract(path, '/operation=([^/]+)/', 1) as operation from spark_cdc_files)"
    ) }}
{%- endmacro -%}


{#- Bytes for people. -#}
{%- macro _bytes_text(bytes) -%}
    {%- for unit, size in [('GB', 1000000000), ('MB', 1000000), ('kB', 1000)] if bytes >= size -%}
        {{ return('%.1f %s' % (bytes / size, unit)) }}
    {%- endfor -%}
    {{ return(bytes ~ ' bytes') }}
{%- endmacro -%}
