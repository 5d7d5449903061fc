{#- What is wrong with settings that name a column each, and with what gives an order. Arguments: entity, settings (names of settings),
    time (that of them which names a column of times), required (those that must be there). Returns a list of texts. -#}
{%- macro _adapter_column_problems(entity, settings, time, required=[]) -%}
    {%- set problems = [] -%}
    {%- for setting in settings -%}
        {%- set name = entity.events.get(setting) -%}
        {%- do problems.extend(spark_cdc._broken({
            'setting': setting, 'name': name, 'accepted': entity.columns | map(attribute='name') | join(', '),
        }, [
            (name is none and setting in required, 'events.%(setting)s is missing: name the column that holds it'),
            (name is not none and spark_cdc._named_column(entity, name) is none,
             "events.%(setting)s names '%(name)s', which is no column; accepted are %(accepted)s: "
             'correct it, or declare the column with the role control'),
        ])) -%}
    {%- endfor -%}
    {%- set column = spark_cdc._named_column(entity, entity.events.get(time)) or {} -%}
    {%- do problems.extend(spark_cdc._broken(dict(column, setting=time), [
        (column and column.data_type not in ['date', 'timestamp', 'timestamp_ntz', 'string'],
         "events.%(setting)s names '%(name)s', which is %(data_type)s; accepted are timestamp, timestamp_ntz, date and string: "
         'declare it as a timestamp, with an encoding if it holds numbers'),
    ])) -%}
    {{ return(problems) }}
{%- endmacro -%}
