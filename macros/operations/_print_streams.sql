{#- Prints what spark-cdc stream has to know of entities, as a line of JSON behind `spark_cdc streams: `; no server is asked. Arguments: entities (list of names;
    none for all with source.stream). An entry has entity, problems (of its YAML), and without any: load_type, per, path (of a business date, each with the
    letters of strftime), stream (its settings; none where there are none). -#}
{%- macro _print_streams(entities=none) -%}
    {%- set listed, known = [], [] -%}
    {%- for name, node, ledger in spark_cdc._entity_nodes() -%}
        {%- do known.append(name) -%}
        {%- set source = spark_cdc._settings_of(node).get('source') -%}
        {%- set is_streamed = source is mapping and source.get('stream') is mapping -%}
        {%- if (name in entities if entities else is_streamed) -%}
            {%- set problems = spark_cdc._entity_problems(name, node) -%}
            {%- set told = {'entity': name, 'problems': problems} -%}
            {%- if not problems -%}
                {%- set entity = spark_cdc._described_entity(name, node, as_declared=true) -%}
                {%- set default = '{business_date:' ~ ('%Y-%m-%d' if entity.eff_type == 'date' else '%Y-%m-%dT%H%M%S') ~ '}' -%}
                {%- do told.update({
                    'load_type': entity.load_type,
                    'per': 'date' if entity.eff_type == 'date' else 'timestamp',
                    'path': entity.source.path | replace('{business_date}', default) if entity.source.path else none,
                    'stream': spark_cdc._completed(entity.source.stream, spark_cdc._known_settings().entity.source.settings.stream.settings)
                        if is_streamed else none,
                }) -%}
            {%- endif -%}
            {%- do listed.append(told) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do print('spark_cdc streams: ' ~ tojson({'known': known, 'found': listed})) -%}
{%- endmacro -%}
