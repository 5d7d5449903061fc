{#- Refuses a load in which keys come more than once. Arguments: run, known (figures of the audit), what (how many keys come), examples (of
    _repeated_keys_sql()). -#}
{%- macro _refuse_duplicates(run, known, what, examples) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- set message -%}
{{ entity.name }}: {{ what }} more than once in {{ load.business_time }}; a {{ load.load_type }} load takes one row per key (key: {# -#}
{{ entity.key_columns | map(attribute='name') | join(', ') }}). Examples:
    - {{ spark_cdc._key_lines(entity, examples) | join('\n    - ') }}
Nothing was committed and readers see what they saw before. Correct the data, or the columns with the role key in stg_{{ entity.name }}, {# -#}
and run the same command again. To set all rows of these keys aside this once: {# -#}
{{ spark_cdc._lift_command(entity, load, ['duplicate_keys']) }}; always: on_duplicate_key: quarantine.
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, 'duplicate_keys', message, load, known) -%}
{%- endmacro -%}
