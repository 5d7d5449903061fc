{#- Makes a secret in the restricted schema, and returns its table. It is made inside of Spark, by Java's SecureRandom on whichever machine runs the task
    (122 bits each of four UUIDs, made 256 by SHA-256), and goes from there into the table's one file: it stands in no statement and no plan, and nobody
    sees it. The file is ORC, which keeps no smallest and largest value of binary columns; those of Parquet's footers come into logs of level DEBUG. Loads take it as soon
    as the view names it. Argument: is_there (whether there is one already, in whose place it comes). -#}
{%- macro _create_secret(is_there) -%}
    {%- set schema = spark_cdc._sensitive_schema() -%}
    {%- set secret = spark_cdc._relation_in(schema, 'spark_cdc_secret_' ~ spark_cdc._time_now('%Y%m%dT%H%M%S') | lower ~ '_' ~ spark_cdc._attempt()) -%}
    {%- set uuid = "java_method('java.util.UUID', 'randomUUID')" -%}
    {%- set sql -%}
create table {{ secret }} using orc as
select
    named_struct(
        {%- for name, pad in [('inner_key', 54), ('outer_key', 92)] %}
        '{{ name }}', unhex(concat(
            array_join(transform(bytes, each -> lpad(hex(each ^ {{ pad }}), 2, '0')), ''),
            repeat('{{ '%X' | format(pad) }}', 32)
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
    {%- do spark_cdc._send('create schema if not exists ' ~ spark_cdc._quote(schema)) -%}
    {%- do spark_cdc._send(sql) -%}
    {%- set view = spark_cdc._secret_view() -%}
    {%- do spark_cdc._send(spark_cdc._replace_view_sql(view, 'select keys from ' ~ secret, is_there)) -%}
    {%- set named = spark_cdc._secret_named_in(spark_cdc._view_text(view)) -%}
    {%- if named != secret.identifier -%}
        {%- do exceptions.raise_compiler_error('spark_cdc.secrets: another run made ' ~ named ~ ' meanwhile, which loads take. ' ~ secret ~ ' can be dropped.') -%}
    {%- endif -%}
    {{ return(secret) }}
{%- endmacro -%}
