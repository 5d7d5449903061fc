{#- Why an entity can't be backfilled with some dates, as far as it can be told without a look at what landed. Returns a list of texts. -#}
{%- macro _backfill_problems(capture, times) -%}
    {%- set entity = capture.entity -%}
    {#- the schema is made by the first load -#}
    {%- set is_begun = adapter.check_schema_exists(target.database, capture.schema) -%}
    {%- set head = spark_cdc._published(capture) if is_begun else spark_cdc._empty_manifest() -%}
    {%- set todo = spark_cdc._backfill_todo(capture, head, times) -%}
    {%- set last = spark_cdc._load_time(head.loads[-1]) if head.loads else none -%}
    {%- set past = [] -%}
    {%- for time in todo if last is not none and time < last -%}{%- do past.append(spark_cdc._time_text(entity, time)) -%}{%- endfor -%}
    {%- set fine = [] -%}
    {%- for time in times if entity.eff_type == 'date' and time.strftime('%H%M%S') != '000000' -%}{%- do fine.append(time | string) -%}{%- endfor -%}
    {%- set values = {
        'name': entity.name, 'past': past[:5] | join(', ') ~ (' and ' ~ (past | length - 5) ~ ' more' if past | length > 5 else ''),
        'first': past[0] if past else '', 'last': '' if last is none else spark_cdc._time_text(entity, last),
    } -%}
    {{ return(spark_cdc._broken(dict(values, fine=fine[:1] | join), [
        (fine | length > 0,
         '%(name)s is loaded per date, but a time of day is given (%(fine)s). Give dates.'),
        (not spark_cdc._is_plainly_staged(entity.name),
         'stg_%(name)s is more than spark_cdc.stage(), which is all that a backfill reads. Load the dates one by one (spark-cdc load).'),
        (entity.events is not none,
         '%(name)s takes change events, of which one load takes as many files as there are: name all of them by a pattern in source.path and load '
         'the last date (spark-cdc load). Accepted are the load types full and delta.'),
        (entity.load_type != entity.declared_load_type,
         "%(name)s would be loaded with another load type than its own (spark_cdc_load_type), which a backfill does not do. Load these dates one by one "
         '(spark-cdc load DATE --select %(name)s --load-type TYPE).'),
        (past | length > 0,
         '%(name)s: %(past)s lie before the last load, %(last)s, and were never loaded. Accepted are later dates; to insert them, with all dates after: '
         'spark-cdc replay --from %(first)s --dates %(past)s --select %(name)s.'),
        (todo | length > 0 and head.loads and head.definition
            and head.definition != spark_cdc._fingerprint(spark_cdc._definition(entity)),
         '%(name)s: the columns of stg_%(name)s, or the secret of its sensitive columns, are not those of the last load. Load one date '
         'first, which brings the change (spark-cdc load), then the rest.'),
    ])) }}
{%- endmacro -%}
