{#- What is wrong with sensitive columns and their masks (docs/sensitive.md): a mask that does not fit, and settings by which values would come to
    where everybody may read: into positions, the order of rows in files, the text of statements.
    Arguments: columns (of the YAML), settings (meta.spark_cdc). Returns a list of texts. -#}
{%- macro _sensitive_problems(columns, settings) -%}
    {%- set rule = spark_cdc._known_settings().column.mask -%}
    {%- set events = settings.get('events') if settings.get('events') is mapping else {} -%}
    {%- set ordering = (spark_cdc._names(events.get('order')) + spark_cdc._names(events.get('tie_breaker'))) | map('lower') | list -%}
    {%- set clustering = spark_cdc._names(settings.get('cluster_by')) | map('lower') | list -%}
    {%- set format = settings.get('file_format') or spark_cdc._var('spark_cdc_file_format') -%}
    {%- set problems, sensitive = [], [] -%}
    {%- for column in columns -%}
        {%- set name, meta = column['name'] | string, spark_cdc._meta_of(column) -%}
        {%- set is_sensitive, mask = meta.get('sensitive') is true, meta.get('mask') -%}
        {%- set type = spark_cdc._plain_type((column.get('data_type') or '') | string) -%}
        {%- set fitting = rule.by_type.get(mask) -%}
        {%- do sensitive.append(name) if is_sensitive -%}
        {%- do problems.extend(spark_cdc._broken({'name': name, 'type': type, 'mask': mask, 'fitting': (fitting or []) | join(', ')}, [
            (mask is not none and not is_sensitive,
             "column '%(name)s' has a mask, but is not sensitive: say `sensitive: true` beside it, or remove it"),
            (is_sensitive and fitting and type not in fitting,
             "column '%(name)s' has mask: %(mask)s, but the type %(type)s; accepted with it are %(fitting)s: take mask: none, which shows null, or "
             'one that fits'),
            (meta.get('pseudonymize') is true and not (is_sensitive and meta.get('role') == 'key' and type == 'string'),
             "column '%(name)s' says pseudonymize, which is for sensitive keys of type string: say `sensitive: true` beside it and declare it a string, or "
             'remove it'),
            (meta.get('pseudonymize') is true and mask is not none,
             "column '%(name)s' has mask: %(mask)s and says pseudonymize, which is a mask, too: remove one of them"),
            (meta.get('pseudonym_domain') is not none and meta.get('pseudonymize') is not true,
             "column '%(name)s' has a pseudonym_domain, but does not say pseudonymize: say `pseudonymize: true` beside it, or remove it"),
            (is_sensitive and meta.get('role') == 'control',
             "column '%(name)s' is sensitive and control: it is not stored, and what is rejected lies apart in any case; remove sensitive"),
            (is_sensitive and meta.get('default') is not none,
             "column '%(name)s' is sensitive and has a default, which would stand in the text of views: remove the default"),
            (is_sensitive and name | lower in ordering,
             "column '%(name)s' is sensitive and gives events their order, so that their positions would show it: order them by another column"),
            (is_sensitive and name | lower in clustering,
             "column '%(name)s' is sensitive and in cluster_by, so that the order of rows would tell it: cluster by another column"),
            (is_sensitive and modules.re.search('(?i)\\b' ~ modules.re.escape(name) ~ '\\b', (settings.get('deleted_when') or '') | string),
             "column '%(name)s' is sensitive and in deleted_when, whose text stands in statements and logs: tell deletes by another column"),
        ])) -%}
    {%- endfor -%}
    {{ return(problems + spark_cdc._broken({'names': sensitive | join(', '), 'format': format}, [
        (sensitive and format in spark_cdc._table_formats(),
         'file_format is %(format)s, but there are sensitive columns (%(names)s), which are not supported in tables of Delta and Iceberg yet: set '
         'file_format: parquet or orc'),
    ])) }}
{%- endmacro -%}
