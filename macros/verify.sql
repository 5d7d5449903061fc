{#- Checks whole ledgers and what readers see of them: recomputes what must hold, and says of each thing that is wrong what it
    is, where it began, how many rows it concerns, examples, and how to repair it. Raises an error if anything was found.
        dbt run-operation spark_cdc.verify --args '{entities: [orders]}'
    Nothing is changed. All rows are read, some of them more than once: it costs a few scans of the ledger.
    Arguments: entities (list of names, or one; none for all). Returns nothing. -#}
{%- macro verify(entities=none) -%}
    {%- set found = [] -%}
    {#- what is missing or can't be read is to be found, not to end the search -#}
    {%- do run_query('set spark.sql.files.ignoreMissingFiles = true') -%}
    {%- do run_query('set spark.sql.files.ignoreCorruptFiles = true') -%}
    {%- for operated in spark_cdc._operated_captures('verify', entities) -%}
        {%- set verified = spark_cdc._verify_entity(operated) -%}
        {%- do found.extend(verified.findings) -%}
        {%- if not verified.findings -%}
            {%- do log(verified.checked, info=true) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if found -%}
        {% do exceptions.raise_compiler_error(
            'spark_cdc.verify found ' ~ spark_cdc._counted(found | length, 'problem') ~ '. Nothing was changed.\n\n' ~ found | join('\n\n')
        ) %}
    {%- endif -%}
    {%- do log('verify: nothing is wrong', info=true) -%}
{%- endmacro -%}
