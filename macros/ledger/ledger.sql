{#- The model <entity>_ledger: what this load writes. Its rows stay invisible until <entity>_committed names the
    load. Arguments: events (whether the entity's load type is events: it then reads <entity>_events). Returns the
    model's SQL, which begins with the plan of the load as a comment. -#}
{%- macro ledger(events=false) -%}
    {{- config(materialized='cdc_ledger') -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set incoming = ref(name ~ '_events') if events else ref('stg_' ~ name) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- neither graph nor server at parse time -#}
    {%- set entity = spark_cdc.entity(name) -%}
    {%- set planned = spark_cdc._planned_load(entity) -%}
    {%- set manifest = planned.manifest -%}
    {%- set load = planned.load -%}
    {%- do load.update({
        'started_at': modules.datetime.datetime.now(modules.pytz.utc).strftime('%Y-%m-%d %H:%M:%S.%f'),
        'definition': spark_cdc._definition(entity),
        'invocation_id': invocation_id,
        'dbt_version': dbt_version,
        'spark_cdc_version': spark_cdc.version(),
    }) -%}
    {%- set keep = load.pop('keep') -%}
    {%- set prior = spark_cdc._check_definition(entity, load, this, keep, not entity.events) or spark_cdc._laid_out(entity, this, load.layout) -%}
    {%- set broadcast = spark_cdc._is_log_small(entity, manifest) -%}
    {%- if entity.events -%}
        {%- set of_load = spark_cdc._events_of_load(entity, incoming, load) -%}
        {%- do load.update({'events': spark_cdc._summarized(entity, of_load, load, prior)}) -%}
        {%- set sql = spark_cdc.tag_events_sql(entity, load, of_load, prior, load.events, broadcast) -%}
    {%- else -%}
        {%- set sql = spark_cdc.tag_sql(entity, load, incoming, prior, broadcast) -%}
    {%- endif -%}
    {{ return('/* spark_cdc load: ' ~ spark_cdc._comment_json(load) ~ ' */\n' ~ sql) }}
{%- endmacro -%}


{#- Events were written under the name that the load had then: if another run has committed since, it may have another one now
    (checkpoint or not), and the events would be left out. -#}
{%- macro _check_same_plan(entity, events, load) -%}
    {%- for row in spark_cdc._query('show partitions ' ~ events) -%}
        {%- set load_id = row.partition.split('load_id=')[1] -%}
        {%- if load_id != load.load_id and load_id.endswith(load.load_id[-9:]) -%}
            {% do exceptions.raise_compiler_error(
                entity.name ~ ': another run committed a load between ' ~ entity.name ~ '_events, written as load ' ~ load_id ~ ', and '
                ~ entity.name ~ '_ledger, which would be load ' ~ load.load_id ~ '. Nothing was committed. Run the same command again.'
            ) %}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}


{#- The partition of <entity>_events that this load wrote. -#}
{%- macro _events_of_load(entity, events, load) -%}
    {%- if model['resource_type'] == 'unit_test' -%}{{ return(events) }}{%- endif -%}
    {{ return(spark_cdc._events_laid_out(entity, events, load.layout, "load_id = '" ~ load.load_id ~ "'")) }}
{%- endmacro -%}


{#- What the events of the load are like (see event_summary()); where nothing is loaded, as if everything occurred. -#}
{%- macro _summarized(entity, events, load, ledger) -%}
    {%- if model['resource_type'] == 'unit_test' or spark_cdc.business_time() is none or not spark_cdc._is_load_command() -%}
        {{ return(spark_cdc._any_events()) }}
    {%- endif -%}
    {%- if (model['unique_id'].rsplit('.', 1)[0] ~ '.' ~ entity.name ~ '_events') not in selected_resources -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': the events of ' ~ load.business_time ~ ' are not part of this run, since ' ~ entity.name ~ '_events is '
            ~ 'not selected. Nothing was written. Run dbt run --select ' ~ entity.name ~ "_events+ --vars '{business_date: "
            ~ var('business_date') ~ "}'."
        ) %}
    {%- endif -%}
    {%- set summary = spark_cdc.event_summary(entity, events, load.applied, ledger, load) -%}
    {%- if summary.event_count == 0 -%}
        {%- do spark_cdc._check_same_plan(entity, spark_cdc._sibling(entity.name ~ '_events'), load) -%}
    {%- endif -%}
    {{ return(summary) }}
{%- endmacro -%}


{#- A summary under which resolving leaves nothing out. -#}
{%- macro _any_events() -%}
    {{ return({
        'event_count': 0, 'controls': 0, 'rejected': 1, 'unexpected': 0, 'late': 0, 'deletes': true, 'partial': true,
        'moves': true, 'splits': true, 'alternates': false, 'late_possible': true, 'truncates': false, 'truncated': none,
        'highest': none,
    }) }}
{%- endmacro -%}


{#- Whether the ledger of an entity is to start anew: asked for in so many words only. -#}
{%- macro _is_wiped(name) -%}
    {%- set wipe = var('spark_cdc_wipe', []) or [] -%}
    {{ return(flags.FULL_REFRESH and name in ([wipe] if wipe is string else wipe)) }}
{%- endmacro -%}


{#- Whether the rows written since the checkpoint are few enough for their keys to be broadcast. -#}
{%- macro _is_log_small(entity, manifest) -%}
    {{ return(spark_cdc._is_few(entity, manifest.log_rows)) }}
{%- endmacro -%}


{#- Whether the keys of so many rows, or events, are few enough to be broadcast. -#}
{%- macro _is_few(entity, rows) -%}
    {{ return((rows or 0) <= entity.checkpoint.rows) }}
{%- endmacro -%}


{#- What the hashes of an entity are computed of, as a dictionary from column to role and type, and what orders its
    events: if it changes, what is stored can't be compared with what comes in. -#}
{%- macro _definition(entity) -%}
    {%- set columns = {'hash specification': 'version ' ~ spark_cdc._hash_version()} -%}
    {%- for column in entity.stored -%}
        {%- do columns.update({column.name: column.role ~ ' ' ~ column.data_type}) -%}
    {%- endfor -%}
    {%- if entity.events -%}
        {%- do columns.update({'order of events': entity.events.format ~ ' ' ~ (entity.events.order + entity.events.tie_breaker) | map(attribute='name') | join(', ')}) -%}
    {%- endif -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- A definition in 32 characters. -#}
{%- macro _fingerprint(entity) -%}
    {{ return(local_md5(tojson(spark_cdc._definition(entity), sort_keys=true))) }}
{%- endmacro -%}
