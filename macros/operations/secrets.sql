{#- The secrets that key the hashes of sensitive columns (docs/hash.md): makes the first one (init)
    or another, which the next load of each entity takes (rotate). A secret is never shown, and none
    is dropped.
        dbt run-operation spark_cdc.secrets --args '{action: init}'
    Arguments: action (init, rotate), force (rotate, although there are entities with a
    sensitive key, which then have to be replayed), execute (whether it is done; else it is only
    said). Returns nothing. -#}
{%- macro secrets(action, force=false, execute=true) -%}
    {%- do spark_cdc._check_arguments('secrets', {'force': force, 'execute': execute}) -%}
    {%- set is_there = not spark_cdc._secret_is_missing(spark_cdc._secret()) -%}
    {%- set problems = spark_cdc._failed_rules({'action': action, 'schema': spark_cdc._sensitive_schema()}, [
        (action not in ['init', 'rotate'], "the action is '%(action)s'; accepted are init and rotate. Which secrets there are: spark-cdc secrets check"),
        (action == 'rotate' and not is_there, 'there is no secret in %(schema)s yet. Make one: spark-cdc secrets init'),
        (action == 'init' and is_there, 'there is a secret in %(schema)s already. To have another one in its place: spark-cdc secrets rotate'),
    ]) -%}
    {%- set used = [] if problems or action == 'init' else spark_cdc._secrets_in_use(spark_cdc._contexts_with_timelines('secrets').contexts) -%}
    {%- set keyed = used | selectattr('is_key') | map(attribute='entity') | join(', ') -%}
    {%- if keyed and not force -%}
        {%- do problems.append('the keys of ' ~ keyed ~ ' are sensitive. With another secret they take no load until they were loaded anew from their first '
            ~ 'load on: spark-cdc replay --from DATE --select ' ~ keyed.replace(',', '') ~ '. If that is meant, say so: spark-cdc secrets rotate --force') -%}
    {%- endif -%}
    {%- do spark_cdc._stop('secrets', problems, 'Nothing was made.') -%}
    {%- set secret = spark_cdc._create_secret(is_there) -%}
    {%- do spark_cdc._say(('would make' if spark_cdc._mode() == 'plan' else 'made') ~ ' the secret ' ~ spark_cdc._secret_id(secret) ~ ' in ' ~ secret.schema
        ~ ': the hashes of sensitive columns are keyed with it from the next load of each entity on') -%}
{%- endmacro -%}


{#- Makes a secret in the restricted schema, and returns its table. It is made inside of Spark,
    by Java's SecureRandom on whichever machine runs the task (122 bits each of four UUIDs, made
    256 by SHA-256), and goes from there into the table's one file: it stands in no statement and
    no plan, and nobody sees it. The file is ORC, which keeps no smallest and largest value of
    binary columns; those of Parquet's footers come into logs of level DEBUG. Loads take it as
    soon as the view names it. Argument: is_there (whether there is one already, in whose place
    it comes). -#}
{%- macro _create_secret(is_there) -%}
    {%- set schema = spark_cdc._sensitive_schema() -%}
    {%- set secret = spark_cdc._relation_in(schema, 'spark_cdc_secret_' ~ spark_cdc._time_now('%Y%m%dT%H%M%S') | lower ~ '_' ~ spark_cdc._run_id8()) -%}
    {%- set uuid = "java_method('java.util.UUID', 'randomUUID')" -%}
    {%- set sql -%}
create table {{ secret }} using orc as
select
    named_struct(
        {%- for name, pad in [('inner_key', '36'), ('outer_key', '5C')] %}
        '{{ name }}', unhex(concat(
            array_join(transform(bytes, each -> lpad(hex(each ^ {{ pad | int(0, 16) }}), 2, '0')), ''),
            repeat('{{ pad }}', 32)
        )){{ ',' if not loop.last }}
        {%- endfor %}
    ) as keys
from (
    select transform(sequence(1, 63, 2), place -> cast(conv(substr(made, place, 2), 16, 10) as int)) as bytes
    from (
        select sha2(concat({{ ([uuid] * 4) | join(', ') }}), 256) as made
        from range(1)
    ) as random
) as parted
    {%- endset -%}
    {%- do spark_cdc._make_schema(schema) -%}
    {%- do spark_cdc._send(sql) -%}
    {%- set view = spark_cdc._secret_view() -%}
    {%- do spark_cdc._send(spark_cdc._replace_view_sql(view, 'select keys from ' ~ secret, is_there)) -%}
    {%- set named = secret.identifier if spark_cdc._mode() == 'plan' else spark_cdc._secret_named_in(spark_cdc._view_text(view)) -%}
    {%- if named != secret.identifier -%}
        {%- do exceptions.raise_compiler_error('spark_cdc.secrets: another run made ' ~ named ~ ' meanwhile, which loads take. ' ~ secret ~ ' can be dropped.') -%}
    {%- endif -%}
    {{ return(secret) }}
{%- endmacro -%}


{#- A part of state(): secrets, oldest first: a list of dictionaries with id, table, proof (of
    _secret_proof(); none where it holds no key), is_current (whether loads take it) and entities
    (names of those whose last load took it); and used, see _secrets_in_use(). -#}
{%- macro _state_secrets(found) -%}
    {%- set current, used, listed = spark_cdc._secret(), spark_cdc._secrets_in_use(found.contexts), [] -%}
    {%- for name in (spark_cdc._tables_in(current.schema, 'spark_cdc_secret_*') if spark_cdc._has_schema(current.schema) else []) | sort -%}
        {%- set secret = spark_cdc._relation_in(current.schema, name) -%}
        {%- set id = spark_cdc._secret_id(secret) -%}
        {%- do listed.append({
            'id': id, 'table': secret | string, 'proof': spark_cdc._secret_proof(secret), 'is_current': name == current.identifier,
            'entities': used | selectattr('id', 'equalto', id) | map(attribute='entity') | list,
        }) -%}
    {%- endfor -%}
    {{ return({'secrets': listed, 'used': used}) }}
{%- endmacro -%}


{#- Which secret the last loads of entities took: a list of dictionaries with entity, id, proof
    (as the manifest has it), is_key (whether the hash of its key is keyed); also which ones
    sensitive keys were erased with. Entities whose last load took none are left out.
    Argument: contexts (with timeline). -#}
{%- macro _secrets_in_use(contexts) -%}
    {%- set found = [] -%}
    {%- for ctx in contexts if ' ' in (ctx.timeline.definition or '') -%}
        {%- set id = ctx.timeline.definition.split(' ')[1] -%}
        {%- do found.append({
            'entity': ctx.entity.name, 'id': id, 'proof': ctx.timeline.secrets.get(id),
            'is_key': 'secret' in spark_cdc._hash_specification_of_key(spark_cdc._hash_specification(ctx.entity)),
        }) -%}
    {%- endfor -%}
    {#- what keys were erased with has to stay as long as the list does -#}
    {%- for ctx in contexts if spark_cdc._has_sensitive_key(ctx.entity) and spark_cdc._erased(ctx.entity) is not none -%}
        {%- for id in spark_cdc._erased_secrets(ctx.entity, spark_cdc._erased(ctx.entity)) -%}
            {%- set secret = spark_cdc._secret_of_id(id) -%}
            {%- do found.append({
                'entity': ctx.entity.name ~ ' (erased keys)', 'id': id, 'is_key': false,
                'proof': spark_cdc._secret_proof(secret) if spark_cdc._known(secret) is not none else none,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
