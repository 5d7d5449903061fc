{#- Whether a full load writes the rows that are gone by a statement of their own, which reads what the first has written in place of the input
    once more: where the state has so many rows that this saves more than the further statements cost. Arguments: entity, load (of _plan_load()). -#}
{%- macro _deletes_apart(entity, load) -%}
    {{ return(
        load.load_type == 'full' and not entity.events and load.base is not none and not load.redefines and load.prior_rows >= 2 * 10 ** 5
    ) }}
{%- endmacro -%}
