{#- The views by their texts: whether they are there, and as the project makes them. Those that add something of their own are not judged; nor
    are those that this same `dbt build` makes only after the tests of the manifest.
    Returns a dictionary: findings (see _verified_list()), compared (kind to name of the views whose rows tell, too). -#}
{%- macro _verified_views(verified) -%}
    {%- set findings = [] -%}
    {%- set compared = {} -%}
    {%- set package = verified.ledger_node.unique_id.rsplit('.', 1)[0] -%}
    {%- set kinds = ['current', 'history', 'versions', 'changes', 'event_versions', 'bitemporal'] -%}
    {%- set both = [] -%}
    {%- for suffix in ['', '_sensitive'] -%}{%- for kind in kinds -%}{%- do both.append((kind, suffix)) -%}{%- endfor -%}{%- endfor -%}
    {%- for kind, suffix in both -%}
        {%- set node = graph.nodes.get(package ~ '.' ~ verified.entity.name ~ '_' ~ kind ~ suffix) -%}
        {%- set is_built_later = flags.WHICH in ['build', 'retry'] and node and node.unique_id in selected_resources -%}
        {%- set own_code = '[{][{]-?\\s*spark_cdc[.]' ~ kind ~ '[(][)]\\s*-?[}][}]' -%}
        {%- if node and not is_built_later and modules.re.fullmatch(own_code, node.raw_code | trim) -%}
            {%- set view = spark_cdc._relation_in(node.schema, node.alias) -%}
            {%- set found = verified.catalog.get(node.alias, {}).get('text') -%}
            {%- set accepted = [] -%}
            {%- set read = spark_cdc._relation_in(verified.ledger.schema, verified.entity.name ~ '_committed_sensitive') if suffix else verified.committed -%}
            {%- for query in spark_cdc._verified_queries(verified, kind, read) -%}
                {%- set text = spark_cdc._typed_view_query(query, verified.manifest) -%}
                {%- do accepted.append(spark_cdc._stamped_view_query(text, 'spark_cdc view ' ~ local_md5(text)).split()) -%}
            {%- endfor -%}
            {%- if not found -%}
                {%- do findings.append({'problem': 'the view ' ~ view ~ ' is missing', 'repair': 'dbt run --select ' ~ node.name}) -%}
            {%- elif found.split() not in accepted -%}
                {%- set is_stamped = modules.re.search('spark_cdc view [0-9a-f]{32}', found) -%}
                {%- do findings.append({
                    'problem': 'the text of the view ' ~ view ~ ' is not what the project makes: somebody altered it, or another version of '
                        ~ 'spark_cdc wrote it',
                    'repair': ('drop view ' ~ view ~ '; then ' if is_stamped else '') ~ 'dbt run --select ' ~ node.name,
                }) -%}
            {%- elif kind in ['current', 'history', 'versions'] and not suffix -%}
                {%- do compared.update({kind: view}) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return({'findings': findings, 'compared': compared}) }}
{%- endmacro -%}


{#- What a view's query may be: current has a hint or not. Argument: committed (relation that it reads). -#}
{%- macro _verified_queries(verified, kind, committed) -%}
    {%- set entity = verified.entity -%}
    {%- if kind == 'current' -%}
        {{ return([spark_cdc._current_sql(entity, committed, true), spark_cdc._current_sql(entity, committed, false)]) }}
    {%- elif kind == 'history' -%}
        {{ return([spark_cdc._history_sql(entity, committed)]) }}
    {%- elif kind == 'versions' -%}
        {{ return([spark_cdc._versions_sql(entity, committed)]) }}
    {%- elif kind == 'changes' -%}
        {{ return([spark_cdc._changes_sql(entity, committed)]) }}
    {%- endif -%}
    {%- set view_sql = spark_cdc._bitemporal_sql if kind == 'bitemporal' else spark_cdc._event_versions_sql -%}
    {{ return([view_sql(entity, verified.events, verified.committed, verified.layout)]) }}
{%- endmacro -%}
