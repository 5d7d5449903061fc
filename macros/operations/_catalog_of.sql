{#- What the metastore knows of an entity's tables and views, the claims of its commits, its tags and what is kept for change feeds at this moment, read anew at each call. Returns a
    dictionary, also of the schema where sensitive columns lie, from the name to: type (TABLE or VIEW), text (of a view), location and provider (file format, of a table); an empty one where
    the schema is missing. -#}
{%- macro _catalog_of(capture) -%}
    {%- set catalog = {} -%}
    {%- if not spark_cdc._query('show schemas like ' ~ spark_cdc._literal(capture.schema)) -%}{{ return(catalog) }}{%- endif -%}
    {%- set rows = [] -%}
    {%- for schema in [capture.schema, capture.ledger.schema] | unique
            if schema == capture.schema or spark_cdc._query('show schemas like ' ~ spark_cdc._literal(schema)) -%}
        {%- do rows.extend(spark_cdc._query('show table extended in ' ~ spark_cdc._quote(schema) ~ " like '" ~ capture.entity.name ~ "_*'")) -%}
    {%- endfor -%}
    {%- for row in rows -%}
        {%- do catalog.update({row.tableName: {
            'type': 'VIEW' if '\nType: VIEW\n' in row.information else 'TABLE',
            'text': spark_cdc._view_text_in(row.information),
            'location': modules.re.findall('\nLocation: ([^\n]+)', row.information) | first | default(none),
            'provider': modules.re.findall('\nProvider: ([^\n]+)', row.information) | first | default(none),
        }}) -%}
    {%- endfor -%}
    {%- for sequence in spark_cdc._claims(capture) -%}
        {%- set claim = spark_cdc._claim(capture, sequence) -%}
        {%- do catalog.update({claim.identifier: {'type': 'VIEW', 'text': spark_cdc._view_text(claim)}}) -%}
    {%- endfor -%}
    {%- for name, manifest in spark_cdc._tags(capture).items() -%}
        {%- do catalog.update({spark_cdc._tag(capture, name).identifier: {'type': 'VIEW', 'text': manifest.text}}) -%}
    {%- endfor -%}
    {%- for sequence, manifest in spark_cdc._kept_versions(capture).items() -%}
        {%- do catalog.update({spark_cdc._kept_version(capture, sequence).identifier: {'type': 'VIEW', 'text': manifest.text, 'kept_at': manifest.kept_at}}) -%}
    {%- endfor -%}
    {{ return(catalog) }}
{%- endmacro -%}
