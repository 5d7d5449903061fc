{#- The codes of the column `operation`, in one place. I, U, D, N and X are what people see; R (rejected row),
    T (delete of a key that was not there) and L (the record of the load itself) stay in the ledger.
    Returns a dictionary from meaning to code. -#}
{%- macro operations() -%}
    {{ return({
        'inserted': 'I',
        'updated': 'U',
        'deleted': 'D',
        'unchanged': 'N',
        'not_supplied': 'X',
        'rejected': 'R',
        'tombstone': 'T',
        'load_record': 'L',
    }) }}
{%- endmacro -%}
