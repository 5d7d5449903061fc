{#- What is wrong with the vars of a run that loads. Arguments: loads (the entities that are loaded: (name, settings as they were written)).
    Returns a list of texts. -#}
{%- macro _run_problems(loads) -%}
    {%- set names = loads | map('first') | list -%}
    {%- set wipe = spark_cdc._listed('spark_cdc_wipe') -%}
    {{ return(
        spark_cdc._business_date_problems(loads)
        + spark_cdc._load_type_problems(loads)
        + spark_cdc._named_entity_problems('spark_cdc_wipe', names)
        + spark_cdc._broken({'wipe': wipe | join(', ')}, [
            (wipe and not flags.FULL_REFRESH,
             'spark_cdc_wipe is given without --full-refresh. To start the ledger of %(wipe)s anew give both; else leave the var out.'),
        ])
        + spark_cdc._lift_problems(var('spark_cdc_lift', none) or [], names)
        + spark_cdc._replay_problems(var('spark_cdc_replay', none), loads)
        + spark_cdc._named_entity_problems('spark_cdc_rekey', names)
    ) }}
{%- endmacro -%}


{#- A var that lists entities names those of the run only. -#}
{%- macro _named_entity_problems(var_name, names) -%}
    {%- set problems = [] -%}
    {%- set message = "%s names '%s', which is no entity of this run (%s). Name entities that are loaded, or leave the var out." -%}
    {%- for name in spark_cdc._listed(var_name) | reject('in', names) -%}
        {%- do problems.append(message % (var_name, name, names | join(', '))) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The var spark_cdc_lift may name guards with a limit, and what is refused without one; alone, or behind an entity of the run. -#}
{%- macro _lift_problems(given, names) -%}
    {%- if given is mapping or given is not sequence -%}
        {{ return(["the var spark_cdc_lift is '" ~ given ~ "'; accepted are a guard and a list of guards, such as [orders.deleted_share]: "
            ~ 'correct it.']) }}
    {%- endif -%}
    {%- set guards = spark_cdc._known_settings().entity.guards.settings | reject('equalto', 'min_rows') | list -%}
    {%- set liftable = guards + ['failed_casts', 'null_keys', 'duplicate_keys', 'failed_rules', 'rules', 'tables', 'unexpected_columns',
        'unclosed_quotes', 'unescaped_quotes', 'blank_rows', 'malformed_text'] -%}
    {%- set problems = [] -%}
    {%- for lift in spark_cdc._names(given) -%}
        {%- set entity, guard = lift.rsplit('.', 1) if '.' in lift else ('', lift) -%}
        {%- set is_guard = guard in liftable and '.' not in entity -%}
        {%- set values = {'lift': lift, 'entity': entity, 'liftable': liftable | join(', '), 'names': names | join(', ')} -%}
        {%- do problems.extend(spark_cdc._broken(values, [
            (not is_guard,
             "spark_cdc_lift names '%(lift)s', which is no guard. Accepted are %(liftable)s, alone or behind an entity (orders.deleted_share)."),
            (is_guard and '.' in lift and entity not in names,
             "spark_cdc_lift names '%(lift)s', but '%(entity)s' is no entity of this run (%(names)s). Name one that is loaded, or the guard alone."),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
