{#- What `spark-cdc verify` asks before it runs the data tests that verify entities. Prints a line of JSON: a list of dictionaries with entity,
    model (which the tests belong to), tests (by dbt's unique_id, their names), lacking (those that the YAML does not have). Returns nothing. -#}
{%- macro _verify_plan(entities=none) -%}
    {%- set plan = [] -%}
    {%- for capture in spark_cdc._captures('verify', entities) -%}
        {%- set model = capture.entity.name ~ '_committed' -%}
        {%- set tests = {} -%}
        {%- for node in graph.nodes.values() if node.resource_type == 'test' and 'spark_cdc_verify' in node.tags
                and node.attached_node == capture.ledger_node.unique_id.rsplit('.', 1)[0] ~ '.' ~ model -%}
            {%- do tests.update({node.unique_id: node.test_metadata.name}) -%}
        {%- endfor -%}
        {%- set wanted = ['ledger_rows_consistent', 'files_match_manifest', 'views_match_ledger', 'log_matches_ledger']
                + (['archive_complete'] if capture.entity.events and capture.entity.events.archive else [])
                + (['masks_hold'] if capture.entity.sensitive else []) -%}
        {%- do plan.append({
            'entity': capture.entity.name, 'model': model, 'tests': tests, 'lacking': wanted | reject('in', tests.values()) | list,
        }) -%}
    {%- endfor -%}
    {%- do print('spark_cdc verify: ' ~ tojson(plan)) -%}
{%- endmacro -%}


{#- The rows of such tests, of which dbt only tells how many there are, for `spark-cdc verify` to print. Arguments: tests (by entity, their
    names). Prints a line of JSON: a list of dictionaries, see _verified_findings(). Returns nothing. -#}
{%- macro _verify_findings(tests) -%}
    {%- set found = [] -%}
    {%- for capture in spark_cdc._captures('verify', tests | list) -%}
        {%- for name in tests[capture.entity.name] -%}
            {%- for row in spark_cdc._query(context['spark_cdc']['test_' ~ name](capture.committed)) -%}
                {%- do found.append(dict(row, row_count=none if row.row_count is none else row.row_count | int)) -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- do print('spark_cdc findings: ' ~ tojson(found)) -%}
{%- endmacro -%}


{#- Whether the tests of whole ledgers look at nothing: in dbt build, where each load would wait for them, unless the project or the selection asks for them. -#}
{%- macro _verify_is_left_out() -%}
    {{ return(flags.WHICH in ['build', 'retry'] and not spark_cdc._var('spark_cdc_verify_in_build')
        and 'spark_cdc_verify' not in (invocation_args_dict.get('select') or '') | string) }}
{%- endmacro -%}


{#- Says so at the end of such a build, where these tests have passed. Argument: results (dbt's). -#}
{%- macro _verify_note(results) -%}
    {%- set tests = [] -%}
    {%- for result in results if spark_cdc._verify_is_left_out() and 'spark_cdc_verify' in (result.node.tags or []) -%}{%- do tests.append(result) -%}{%- endfor -%}
    {%- if tests -%}
        {%- do log('spark_cdc: ' ~ spark_cdc._counted(tests | length, 'test') ~ ' of whole ledgers looked at nothing, as in every dbt build. To run them: spark-cdc verify, '
            ~ 'dbt test --select tag:spark_cdc_verify, or in each build the var spark_cdc_verify_in_build', info=true) -%}
    {%- endif -%}
{%- endmacro -%}
