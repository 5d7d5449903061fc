{#- What is wrong with the var business_date. Arguments: value, loads (the entities that are loaded: (name, settings)).
    Returns a list of texts. -#}
{%- macro _business_date_problems(value, loads) -%}
    {%- set time = spark_cdc._business_time(value) -%}
    {%- set has_clock = time is not none and time.strftime('%H%M%S') != '000000' -%}
    {%- set values = {'value': value, 'example': "dbt run --vars '{business_date: 2019-06-19}'"} -%}
    {%- set problems = spark_cdc._broken(values, [
        (value is none, 'the var business_date is missing: say which date is loaded, for instance %(example)s.'),
        (value is not none and time is none,
         "the var business_date is '%(value)s', which is not a date that exists. Accepted are YYYY-MM-DD and 'YYYY-MM-DD HH:MM[:SS]', for "
         'instance %(example)s.'),
    ]) -%}
    {%- set message = "%(name)s: the var business_date is '%(value)s', but this entity is loaded per date. Give a date, for instance %(example)s, "
                      "or set business_date_type: timestamp in stg_%(name)s's meta." -%}
    {%- for name, settings in loads if has_clock and settings.get('business_date_type') != 'timestamp' -%}
        {%- do problems.append(message % dict(values, name=name)) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
