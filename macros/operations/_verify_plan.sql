{#- Which data tests verify which entity: what `spark-cdc verify` asks before it runs them. Prints a line of JSON: a list of dictionaries with
    entity, model (that the tests are to hang on), lacking (tests that its YAML does not have). Returns nothing. -#}
{%- macro _verify_plan(entities=none) -%}
    {%- set plan = [] -%}
    {%- for named in spark_cdc._named_entities('verify', entities) -%}
        {%- set model_id = named.ledger_node.unique_id.rsplit('_', 1)[0] ~ '_committed' -%}
        {%- set present = [] -%}
        {%- for node in graph.nodes.values() if node.resource_type == 'test' and node.get('attached_node') == model_id and 'spark_cdc_verify' in node.tags -%}
            {%- do present.append(node.test_metadata.name) -%}
        {%- endfor -%}
        {%- set wanted = ['ledger_rows_consistent', 'files_match_manifest', 'views_match_ledger', 'log_matches_ledger']
                + (['archive_complete'] if named.entity.events and named.entity.events.archive else []) -%}
        {%- do plan.append({
            'entity': named.entity.name,
            'model': named.entity.name ~ '_committed',
            'lacking': wanted | reject('in', present) | list,
        }) -%}
    {%- endfor -%}
    {%- do print('spark_cdc verify: ' ~ tojson(plan)) -%}
{%- endmacro -%}
