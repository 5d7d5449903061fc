{#- Groups of the codes of the column `operation` (docs/operations.md), in one place, as a list for SQL: ('I', 'U', 'D').
    Arguments: group: `visible` (what people may see), `committed` (the same, and the record of the load), `existing` (rows that exist
    after their load), `changes` (what changed), `supplied` (rows that came in with a key), `received` (the same, and rejected ones),
    `known` (rows that say what a key was last), `met` (rows whose keys a full load has brought, with the marks of unchanged ones that are not written: S, which
    are there between its two writes only, and W, of rows that broke a rule), `judged` (rows that rules have looked at, as far as the ledger holds them). Returns text. -#}
{%- macro _operations(group) -%}
    {%- set groups = {
        'visible': ['I', 'U', 'D', 'N', 'X'],
        'committed': ['I', 'U', 'D', 'N', 'X', 'L'],
        'existing': ['I', 'U', 'N', 'X'],
        'changes': ['I', 'U', 'D'],
        'supplied': ['I', 'U', 'D', 'N', 'T'],
        'received': ['I', 'U', 'D', 'N', 'T', 'R'],
        'known': ['I', 'U', 'D', 'N', 'X', 'T'],
        'met': ['I', 'U', 'N', 'S', 'W', 'R'],
        'judged': ['I', 'U', 'N', 'W', 'R'],
    } -%}
    {{ return("('" ~ groups[group] | join("', '") ~ "')") }}
{%- endmacro -%}
