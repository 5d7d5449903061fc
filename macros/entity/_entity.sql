{#- Everything the macros need to know of an entity, read from the YAML of `stg_<name>` and completed with the
    defaults. Nothing is checked here: validate() has done that at the start of the run.
    Returns a dictionary: name, load_type (of this run, see _load_type()), declared_load_type, eff_type (type of eff_start_date), deleted_when, timezone, source
    {format, path, table, net_changes, options, text, date_column, on_missing_column, on_unexpected_column}, events (of
    _event_settings(); none for other load types), dropped (columns that are stored no more, in lower case),
    checkpoint {changed_share, loads, rows}, guards (of _guards()), rules (of _rules()), quarantine
    (kinds of rejected rows that are set aside), file_format, and lists of columns: columns (all, as declared, and those that a
    change-event format adds), stored (without control columns),
    key_columns, compared, ignored, sensitive (stored columns that lie apart: docs/sensitive.md). A column is a dictionary: name, data_type, role,
    nullable, from, format, century, encoding, optional (whether the source may lack it), in_orc (whether it is stored in an ORC table), was (former names), default, on_misfit, sensitive; of a sensitive one, and
    none of others, secret (the table that keys its hashes), mask (what others see of it) and pseudonym (the domain of its tokens, where these are the mask); sql (the name, quoted where it must be). -#}
{%- macro _entity(name) -%}
    {%- set node = spark_cdc.entity_node(name) -%}
    {%- if node is none -%}
        {%- set message -%}
            spark_cdc: the entity '{{ name }}' has no model stg_{{ name }}, where its columns and settings are described. Write it, or let
            {{- ' `spark-cdc new ' ~ name }} --columns ...` do so.
        {%- endset -%}
        {% do exceptions.raise_compiler_error(message) %}
    {%- endif -%}
    {%- for problem in spark_cdc._missing_settings_problems(node) -%}
        {%- do exceptions.raise_compiler_error('spark_cdc: ' ~ name ~ ': ' ~ problem ~ ' (in the YAML of stg_' ~ name ~ ').') -%}
    {%- endfor -%}
    {{ return(spark_cdc._described_entity(name, node)) }}
{%- endmacro -%}
