{#- What is wrong with the load type that a run says. Argument: loads (the entities that are loaded: (name, settings)). Returns a list of texts. -#}
{%- macro _load_type_problems(loads) -%}
    {%- set given = spark_cdc._load_types_given() -%}
    {%- if given is none -%}{{ return([]) }}{%- endif -%}
    {%- set label = 'the var spark_cdc_load_type' if var('spark_cdc_load_type', none) is not none else 'the environment variable SPARK_CDC_LOAD_TYPE' -%}
    {%- set names = loads | map('first') | list -%}
    {%- set problems = [] -%}
    {%- for name in given if given is mapping and name not in names -%}
        {%- do problems.append(label ~ " names '" ~ name ~ "', which is no entity of this run (" ~ names | join(', ')
            ~ '). Name entities that are loaded, or leave it out.') -%}
    {%- endfor -%}
    {%- for name, settings in loads -%}
        {%- set type, declared = spark_cdc._load_type_of_run(name), settings.get('load_type') -%}
        {%- do problems.extend(spark_cdc._broken({'name': name, 'label': label, 'type': type, 'declared': declared}, [
            (type is not none and type != declared and type not in ['full', 'delta'],
             "%(name)s: %(label)s is '%(type)s'. Accepted for one run are full and delta (an entity of load_type %(declared)s), alone or by entity: "
             "{%(name)s: full}."),
            (declared == 'events' and type in ['full', 'delta'],
             '%(name)s: %(label)s is %(type)s, but the entity takes change events (load_type: events), which have positions. Leave it out for this '
             'entity, and send the snapshot as events: rows of a snapshot in its format (docs/events.md).'),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
