{#- What is to be held of the rows before, now that the rows of the load are there. Returns a dictionary: sql (query of the rows, or none), drops_deletes
    (whether what was tagged D is none). -#}
{%- macro _held_rows(capture, load) -%}
    {%- set entity, ledger = capture.entity, capture.ledger -%}
    {%- if not entity.quarantine or load.load_type != 'full' or load.base is none -%}
        {{ return({'sql': none, 'drops_deletes': false}) }}
    {%- endif -%}
    {%- set sql -%}
select
    count(*) as rejected,
    count_if(key_hash is null) as unreadable
from {{ ledger }}
where load_id = '{{ load.load_id }}' and operation = 'R'
    {%- endset -%}
    {%- set found = spark_cdc._query(sql)[0] -%}
    {%- if found.rejected | int and load.redefines -%}
        {%- set message -%}
{{ entity.name }}: {{ found.rejected }} rows of {{ load.business_time }} are rejected, and the load is the first with the changed columns {# -#}
of stg_{{ entity.name }}: such a load takes none, also with on_reject: quarantine. Nothing was committed and readers see what they saw {# -#}
before. Correct the data, or load a date without rejected rows under the changed columns first.
        {%- endset -%}
        {%- do spark_cdc._refuse_load(entity, 'failed_casts', message, load) -%}
    {%- endif -%}
    {%- set is_held, unreadable = found.rejected | int > 0, found.unreadable | int > 0 -%}
    {{ return({
        'sql': spark_cdc._hold_sql(dict(capture, load=load, prior=spark_cdc._laid_out(entity, ledger, load.layout)), unreadable) if is_held else none,
        'drops_deletes': unreadable,
    }) }}
{%- endmacro -%}
