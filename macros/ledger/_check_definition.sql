{#- Loads whose hashes were computed of other columns can't be compared with this one: refused, until the ledger is
    started anew. -#}
{%- macro _check_definition(entity, load, manifest, ledger) -%}
    {%- if load.parent is none or manifest.definition == local_md5(tojson(load.definition, sort_keys=true)) -%}
        {{ return('') }}
    {%- endif -%}
    {%- set record = spark_cdc._query(
        'select note from ' ~ ledger ~ " where load_id = '" ~ load.parent ~ "' and operation = 'L'"
    ) -%}
    {%- set before = fromjson(record[0].note).definition if record else {} -%}
    {%- set lists = [] -%}
    {%- for definition in [before, load.definition] -%}
        {%- set lines = [] -%}
        {%- for name, what in definition.items() -%}{%- do lines.append(name ~ ' ' ~ what) -%}{%- endfor -%}
        {%- do lists.append(lines) -%}
    {%- endfor -%}
    {%- do spark_cdc._refuse_definition(entity, lists[0], lists[1]) -%}
{%- endmacro -%}


{%- macro _refuse_definition(entity, before, now) -%}
    {%- set lines = [] -%}
    {%- for column in before if column not in now -%}{%- do lines.append('was: ' ~ column) -%}{%- endfor -%}
    {%- for column in now if column not in before -%}{%- do lines.append('now: ' ~ column) -%}{%- endfor -%}
    {% do exceptions.raise_compiler_error(
        entity.name ~ ': its columns are not those of the loads before, and stored hashes can not be compared with new '
        ~ 'ones.\n  ' ~ (lines or ['the order of the columns changed']) | join('\n  ') ~ '\nPut the columns of stg_'
        ~ entity.name ~ " back, or start the ledger anew with dbt run --full-refresh --vars '{business_date: "
        ~ var('business_date') ~ ', spark_cdc_wipe: [' ~ entity.name ~ "]}'. Nothing was written."
    ) %}
{%- endmacro -%}
