{#- When the loads of an entity are squashed, and what that supersedes is dropped, without a person (see maintain()): its own settings come first, then the
    var spark_cdc_upkeep, then the defaults. Argument: settings (its meta.spark_cdc). Returns a dictionary: compact_loads, keep_loads, retention_hours;
    none where it is off. -#}
{%- macro _upkeep(settings) -%}
    {%- set policy = spark_cdc._completed(spark_cdc._var('spark_cdc_upkeep'), spark_cdc._known_settings().entity.upkeep.settings) -%}
    {%- do policy.update(settings.get('upkeep') or {}) -%}
    {{ return(policy) }}
{%- endmacro -%}


{#- What is wrong with the policy that an entity has in the end. Returns a list of texts. -#}
{%- macro _upkeep_problems(settings) -%}
    {%- set policy, problems = spark_cdc._upkeep(settings), [] -%}
    {%- if policy.values() | reject('none') | reject('number') | list -%}{{ return(problems) }}{%- endif -%}  {#- which is said elsewhere -#}
    {%- if policy.compact_loads is not none and policy.keep_loads > policy.compact_loads - 3 -%}
        {%- do problems.append('upkeep.keep_loads is ' ~ policy.keep_loads ~ ', and upkeep.compact_loads ' ~ policy.compact_loads
            ~ '; accepted is at most compact_loads minus 3: when there are compact_loads of them, all but the last keep_loads are squashed, '
            ~ 'and two take their place') -%}
    {%- endif -%}
    {%- if policy.retention_hours is not none and policy.retention_hours < 24 -%}
        {%- do problems.append('upkeep.retention_hours is ' ~ policy.retention_hours ~ '; accepted are numbers from 24 and null (off): a query that '
            ~ 'is running, and a load that is being written, are safe only while they are younger than that') -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}
