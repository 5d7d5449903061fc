{#- The files of a business date as a relation, without a view: with a reader of Spark's own, and those of the entity's options that say which
    files are read (and more, in lower case). Options in a query are known to Spark 4 only. -#}
{%- macro _direct_sql(entity, time, reader, more=[]) -%}
{%- set options = spark_cdc._direct_options(entity, more) -%}
{{ reader }}.`{{ spark_cdc._landing_path(entity, time).replace('`', '``') }}`{{ ' with (' ~ options | join(', ') ~ ')' if options }}
{%- endmacro -%}


{%- macro _direct_options(entity, more=[]) -%}
    {%- set options = [] -%}
    {%- for name, value in entity.source.options.items() if name | lower in ['pathglobfilter', 'modifiedbefore', 'modifiedafter'] + more -%}
        {%- do options.append(spark_cdc._literal(name) ~ ' = ' ~ spark_cdc._reader_option_literal(name, value)) -%}
    {%- endfor -%}
    {{ return(options) }}
{%- endmacro -%}
