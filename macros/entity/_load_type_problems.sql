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
            (declared == 'events' and type == 'delta',
             '%(name)s: %(label)s is delta, but the entity takes change events (load_type: events). Accepted for one run is full.'),
        ])) -%}
        {%- if declared == 'events' and type == 'full' -%}{%- do problems.extend(spark_cdc._load_type_snapshot_problems(name, settings)) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What keeps an entity of change events from taking a full snapshot. -#}
{%- macro _load_type_snapshot_problems(name, settings) -%}
    {%- set events = settings.get('events') if settings.get('events') is mapping else {} -%}
    {%- set sources = settings.get('sources') if settings.get('sources') is mapping else {} -%}
    {%- set given = var('spark_cdc_position', none) -%}
    {%- set is_feed = settings.get('source') is mapping and settings.source.get('format') == 'change_feed' -%}
    {%- set node = spark_cdc.entity_node(name) -%}
    {%- set order = spark_cdc._columns_by_name(spark_cdc._described_columns(node), events.get('order')) -%}
    {{ return(spark_cdc._broken({'name': name, 'given': given}, [
        (events.get('insert_only'),
         '%(name)s: a full snapshot deletes what it lacks, but the entity is insert_only. Leave spark_cdc_load_type out for it.'),
        (events.get('archive') and spark_cdc._is_lifted(name, 'late_share'),
         '%(name)s: late_share is lifted for a full snapshot, so positions begin anew, but events.archive is true, and archived events are compared by their '
         'positions. Start the ledger anew (--full-refresh with spark_cdc_wipe), or leave late_share out of spark_cdc_lift.'),
        (not sources.get('full') and not is_feed,
         '%(name)s: a full snapshot has a source of its own, which is missing. Write path and format below meta.spark_cdc.sources.full in the YAML of '
         'stg_%(name)s (docs/snapshots.md).'),
        (spark_cdc._snapshot_position(name, order) is none and not is_feed,
         "%(name)s: the var spark_cdc_position is '%(given)s'. Say as of which position the snapshot is: a number, a list of numbers as "
         'event_position has them behind its first, or a time where a date or timestamp gives the order; for instance {%(name)s: [815, 3]}.'),
    ])) }}
{%- endmacro -%}
