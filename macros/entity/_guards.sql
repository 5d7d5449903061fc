{#- The guards of an entity: what a load may do at most before it is stopped. Its own settings come first, then the var
    spark_cdc_guards, then the defaults. A guard that the var spark_cdc_lift names is off for this run.
    Arguments: name (of the entity), settings (its meta.spark_cdc). Returns a dictionary: guard to limit, none where
    the guard is off. -#}
{%- macro _guards(name, settings) -%}
    {%- set limits = spark_cdc._guard_defaults() -%}
    {%- do limits.update(var('spark_cdc_guards', {}) or {}) -%}
    {%- do limits.update(settings.get('guards') or {}) -%}
    {%- for guard in limits | list if spark_cdc._is_lifted(name, guard) -%}
        {%- do limits.update({guard: none}) -%}
    {%- endfor -%}
    {{ return(limits) }}
{%- endmacro -%}


{#- empty: an empty full snapshot, where rows exist. Shares are of the rows before; rows_band is of the rows in, as
    multiples of the median of the last loads; rejects and rejected_share are of quarantined rows. Shares and the band
    count where there are at least min_rows rows. -#}
{%- macro _guard_defaults() -%}
    {{ return({
        'empty': 'refuse',
        'deleted_share': 0.5,
        'updated_share': 0.95,
        'inserted_share': 10,
        'rows_band': [0.2, 5],
        'rejects': 1000,
        'rejected_share': 0.1,
        'min_rows': 100,
    }) }}
{%- endmacro -%}


{#- Which rejected rows are set aside and do not stop a load: null_keys (whose key can't be read), failed_casts (rejected
    for another reason), duplicate_keys (of keys that come more than once). Returns a list. -#}
{%- macro _quarantine(name, settings) -%}
    {%- set kinds = [] -%}
    {%- set all = settings.get('on_reject') == 'quarantine' or spark_cdc._is_lifted(name, 'rejects') -%}
    {%- for kind in ['null_keys', 'failed_casts'] if all or spark_cdc._is_lifted(name, kind) -%}
        {%- do kinds.append(kind) -%}
    {%- endfor -%}
    {%- if settings.get('load_type') != 'events'
            and (settings.get('on_duplicate_key') == 'quarantine' or spark_cdc._is_lifted(name, 'duplicate_keys')) -%}
        {%- do kinds.append('duplicate_keys') -%}
    {%- endif -%}
    {{ return(kinds) }}
{%- endmacro -%}


{#- What the var spark_cdc_lift may name: guards with a limit, and what is refused without one. -#}
{%- macro _liftable() -%}
    {{ return((spark_cdc._guard_defaults() | reject('equalto', 'min_rows') | list)
        + ['failed_casts', 'null_keys', 'duplicate_keys', 'unexpected_columns']) }}
{%- endmacro -%}


{#- The var spark_cdc_lift as a list of texts. -#}
{%- macro _lifts() -%}
    {%- set lift = var('spark_cdc_lift', []) or [] -%}
    {{ return([lift] if lift is string else lift) }}
{%- endmacro -%}


{#- Whether a guard is lifted for this run, for all entities or for this one. -#}
{%- macro _is_lifted(name, guard) -%}
    {{ return(guard in spark_cdc._lifts() or (name ~ '.' ~ guard) in spark_cdc._lifts()) }}
{%- endmacro -%}
