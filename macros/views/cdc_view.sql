{#- A view that readers can hold on to: created if it is not there, altered (one metastore transaction) if its text
    differs, and left alone otherwise. What the text was made of is told from a fingerprint in it, which dbt's own
    look at the catalogue at the start of the run has brought along: no statement is sent for a view that stands. -#}
{% materialization cdc_view, adapter='spark' %}
    {%- set existing = load_cached_relation(this) -%}
    {%- set fingerprint = 'spark_cdc view ' ~ local_md5(sql) -%}
    {{ run_hooks(pre_hooks) }}
    {%- if existing is not none and (fingerprint in (existing.information or '') or spark_cdc._replay() is not none) -%}
        {%- do store_raw_result('main', message='UNCHANGED', code='UNCHANGED', rows_affected='-1') -%}
    {%- else -%}
        {%- call statement('main') -%}
            {{ spark_cdc._replace_view_sql(this, spark_cdc._stamped_view_query(sql, fingerprint), existing is not none) }}
        {%- endcall -%}
    {%- endif -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='view')]}) }}
{% endmaterialization %}
