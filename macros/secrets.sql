{#- The secrets that key the hashes of sensitive columns (docs/hash.md): makes the first one (init) or another, which the next load of each entity takes
    (rotate), or tells which there are and who uses them (check), as a line of JSON. A secret is never shown, and none is dropped.
        dbt run-operation spark_cdc.secrets --args '{action: init}'
    Arguments: action (init, rotate, check), force (rotate, although there are entities with a sensitive key, which then have to be replayed).
    Returns nothing. -#}
{%- macro secrets(action='check', force=false) -%}
    {%- do spark_cdc._check_arguments('secrets', {'force': force}) -%}
    {%- set is_there = not spark_cdc._secret_is_missing(spark_cdc._secret()) -%}
    {%- set problems = spark_cdc._broken({'action': action, 'schema': spark_cdc._sensitive_schema()}, [
        (action not in ['init', 'rotate', 'check'], "the action is '%(action)s'; accepted are init, rotate and check"),
        (action == 'rotate' and not is_there, 'there is no secret in %(schema)s yet. Make one: spark-cdc secrets init'),
        (action == 'init' and is_there, 'there is a secret in %(schema)s already. To have another one in its place: spark-cdc secrets rotate'),
    ]) -%}
    {%- set used = [] if problems or action == 'init' else spark_cdc._listed_secrets_in_use(spark_cdc._captures_with_heads('secrets').captures) -%}
    {%- set keyed = used | selectattr('is_key') | map(attribute='entity') | join(', ') -%}
    {%- if action == 'rotate' and keyed and not force -%}
        {%- do problems.append('the keys of ' ~ keyed ~ ' are sensitive. With another secret they take no load until they were loaded anew from their first '
            ~ 'load on: spark-cdc replay --from DATE --select ' ~ keyed.replace(',', '') ~ '. If that is meant, say so: spark-cdc secrets rotate --force') -%}
    {%- endif -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error('spark_cdc.secrets: ' ~ problems | join('; ') ~ '. Nothing was made.') -%}
    {%- elif action == 'check' -%}
        {%- do print('spark_cdc secrets: ' ~ tojson({'secrets': spark_cdc._listed_secrets(used), 'used': used})) -%}
    {%- else -%}
        {%- set secret = spark_cdc._create_secret(is_there) -%}
        {%- do log('made the secret ' ~ spark_cdc._secret_id(secret) ~ ' in ' ~ secret.schema ~ ': the hashes of sensitive columns are keyed with it from the next load of '
            ~ 'each entity on', info=true) -%}
    {%- endif -%}
{%- endmacro -%}
