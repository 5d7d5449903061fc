{#- What is wrong with the var spark_cdc_replay. Arguments: asked (its value), loads (the entities that are loaded: (name, settings)). Returns a
    list of texts. -#}
{%- macro _replay_problems(asked, loads) -%}
    {%- if not asked -%}{{ return([]) }}{%- endif -%}
    {%- set from = asked.get('from') if asked is mapping else none -%}
    {%- set first = spark_cdc._business_time(from) -%}
    {%- set example = "--vars '{business_date: 2019-06-20, spark_cdc_replay: {from: 2019-06-19}}'" -%}
    {%- if first is none -%}
        {{ return(['the var spark_cdc_replay is ' ~ asked ~ '. Accepted is {from: DATE}, the first business date that is loaded anew, and beside it '
            ~ 'source: landing or archive, for instance ' ~ example ~ '.']) }}
    {%- endif -%}
    {%- set source = asked.get('source') or 'landing' -%}
    {%- set values = {'from': from, 'source': source} -%}
    {%- set problems = [] -%}
    {%- set message = "the var spark_cdc_replay has '%s', which is unknown. Accepted are from and source, for instance %s." -%}
    {%- for key in asked if key not in ['from', 'source'] -%}{%- do problems.append(message % (key, example)) -%}{%- endfor -%}
    {%- do problems.extend(spark_cdc._broken(values, [
        (source not in ['landing', 'archive'], "spark_cdc_replay.source is '%(source)s'. Accepted are landing and archive."),
        (spark_cdc._listed('spark_cdc_wipe'),
         'spark_cdc_replay and spark_cdc_wipe are given at once. A replay from before the first load builds everything anew; leave one of them out.'),
    ])) -%}
    {%- for name, settings in loads -%}
        {%- set value = spark_cdc._business_date(name) -%}
        {%- set time = spark_cdc._business_time(value) -%}
        {%- do problems.extend(spark_cdc._broken(dict(values, name=name, value=value), [
            (time is not none and time < first,
             "the business date '%(value)s' lies before the first of the replay, '%(from)s'. Give a date from there on, or set spark_cdc_replay.from "
             'to the earliest date that is to be loaded anew.'),
            (first.strftime('%H%M%S') != '000000' and settings.get('business_date_type') != 'timestamp',
             "%(name)s: spark_cdc_replay.from is '%(from)s', but this entity is loaded per date. Give a date."),
            (source == 'archive' and not (settings.get('events') or {}).get('archive'),
             '%(name)s: spark_cdc_replay.source is archive, but only entities of change events with events.archive: true have one. Select those, '
             'or leave source out: the landing is read.'),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
