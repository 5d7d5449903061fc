{#- The models of a load, as `dbt run --select` takes them: the first that writes, and all that follow. -#}
{%- macro _load_selector(entity) -%}{{ return(entity.name ~ ('_events+' if entity.events else '_ledger+')) }}{%- endmacro -%}
