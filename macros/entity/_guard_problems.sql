{#- What is wrong with guards, of an entity or of the var. Arguments: label (how they are called in messages), guards.
    Returns a list of texts. -#}
{%- macro _guard_problems(label, guards) -%}
    {%- if guards is none -%}
        {{ return([]) }}
    {%- elif guards is not mapping -%}
        {{ return([label ~ ' is not a mapping: write ' ~ spark_cdc._guard_defaults() | join(', ') ~ ' below it']) }}
    {%- endif -%}
    {%- set problems = spark_cdc._unknown_key_problems(label, guards, spark_cdc._guard_defaults() | list) -%}
    {%- for guard in guards if guard in spark_cdc._guard_defaults() and (guards[guard] is not none or guard == 'min_rows') -%}
        {%- set found = guards[guard] -%}
        {%- if guard == 'empty' -%}
            {%- if found != 'refuse' -%}
                {%- do problems.append(label ~ ".empty is '" ~ found ~ "'; accepted are refuse and null (off): choose one of them") -%}
            {%- endif -%}
        {%- elif guard == 'rows_band' -%}
            {%- if found is string or found is mapping or found is not sequence or found | length != 2
                    or found | reject('number') | list or found | select('boolean') | list or not 0 <= found[0] <= found[1] -%}
                {%- do problems.append(label ~ ".rows_band is '" ~ found ~ "'; accepted are two numbers from 0, the lower first, such as "
                    ~ '[0.2, 5], or null (off): correct it') -%}
            {%- endif -%}
        {%- elif found is not number or found is boolean or found < 0 -%}
            {%- do problems.append(label ~ '.' ~ guard ~ " is '" ~ found ~ "'; accepted are numbers from 0"
                ~ ('' if guard == 'min_rows' else ' and null (off)') ~ ': correct it') -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with the vars spark_cdc_guards and spark_cdc_lift. Arguments: names (of the entities that are loaded).
    Returns a list of texts. -#}
{%- macro _guard_var_problems(names) -%}
    {%- set problems = spark_cdc._guard_problems('the var spark_cdc_guards', var('spark_cdc_guards', {})) -%}
    {%- if spark_cdc._lifts() is mapping or spark_cdc._lifts() is not sequence -%}
        {{ return(problems + ["the var spark_cdc_lift is '" ~ spark_cdc._lifts() ~ "'; accepted are a guard and a list of guards, such as "
            ~ '[orders.deleted_share]: correct it.']) }}
    {%- endif -%}
    {%- for lift in spark_cdc._lifts() -%}
        {%- set parts = (lift | string).split('.') -%}
        {%- if parts[-1] not in spark_cdc._liftable() or parts | length > 2 -%}
            {%- do problems.append("spark_cdc_lift names '" ~ lift ~ "', which is no guard. Accepted are "
                ~ spark_cdc._liftable() | join(', ') ~ ', alone or behind an entity (orders.deleted_share).') -%}
        {%- elif parts | length == 2 and parts[0] not in names -%}
            {%- do problems.append("spark_cdc_lift names '" ~ lift ~ "', but '" ~ parts[0] ~ "' is no entity of this run ("
                ~ names | join(', ') ~ '). Name one that is loaded, or the guard alone.') -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- Rejected rows that are set aside have to be seen by somebody. -#}
{%- macro _rejects_model_problems(name, settings, ledger) -%}
    {%- set quarantines = 'quarantine' in [settings.get('on_reject'), settings.get('on_duplicate_key')] -%}
    {%- if quarantines and (ledger.rsplit('.', 1)[0] ~ '.' ~ name ~ '_rejects') not in graph.nodes -%}
        {{ return([name ~ ': rejected rows are quarantined, but no model shows them. Write the model ' ~ name
            ~ '_rejects with spark_cdc.rejects() in it.']) }}
    {%- endif -%}
    {{ return([]) }}
{%- endmacro -%}
