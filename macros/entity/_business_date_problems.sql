{#- What is wrong with the business dates of the entities that are loaded. Argument: loads ((name, settings) of each). Returns a list of texts. -#}
{%- macro _business_date_problems(loads) -%}
    {%- set problems = [] -%}
    {%- set is_var = var('business_date', none) is not none -%}
    {%- for name, settings in loads -%}
        {%- set value = spark_cdc._business_date(name) -%}
        {%- set time = spark_cdc._business_time(value) -%}
        {%- set values = {
            'name': name, 'value': value, 'example': "--vars '{business_date: 2019-06-19}'",
            'given': 'the var business_date' if is_var else 'the environment variable SPARK_CDC_BUSINESS_DATE',
        } -%}
        {%- do problems.extend(spark_cdc._broken(values, [
            (value is none,
             'the business date is missing: say which date is loaded. Run the same command with %(example)s, or with the environment variable '
             'SPARK_CDC_BUSINESS_DATE=2019-06-19.'),
            (value is not none and time is none,
             "%(given)s is '%(value)s', which is not a date that exists. Accepted are YYYY-MM-DD and 'YYYY-MM-DD HH:MM[:SS]', for "
             'instance %(example)s.'),
            (time is not none and time.strftime('%H%M%S') != '000000' and settings.get('business_date_type') != 'timestamp',
             "%(name)s: %(given)s is '%(value)s', but this entity is loaded per date. Give a date, for instance %(example)s, "
             "or set business_date_type: timestamp in stg_%(name)s's meta."),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
