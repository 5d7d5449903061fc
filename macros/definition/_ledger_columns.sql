{#- The columns of the ledger: the stored ones, hashes, eff_start_date, for events the position last applied, note, then
    the partition's; each with where it lies under a layout. -#}
{%- macro _ledger_columns(entity, layout={}) -%}
    {%- set columns = entity.stored | list -%}
    {%- for name, data_type in [('key_hash', 'binary'), ('nonkey_hash', 'binary'), ('ignored_hash', 'binary'),
                                ('eff_start_date', entity.eff_type), ('event_position', 'array<bigint>'), ('note', 'string'),
                                ('business_date', 'date'), ('load_id', 'string'), ('operation', 'string')]
            if (name != 'ignored_hash' or entity.ignored) and (name != 'event_position' or entity.events) -%}
        {%- do columns.append({'name': name, 'data_type': data_type}) -%}
    {%- endfor -%}
    {{ return(spark_cdc._placed_columns(columns, layout)) }}
{%- endmacro -%}
