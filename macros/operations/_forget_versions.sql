{#- What was kept for change feeds so long ago that no consumer is to ask for it any more. It goes before its loads do, so that changes() refuses what it
    can't tell. Arguments: operated (capture with catalog), retention_hours, execute. Returns the names of the views that go. -#}
{%- macro _forget_versions(operated, retention_hours, execute) -%}
    {%- set forgotten = [] -%}
    {%- set now = modules.datetime.datetime.now(modules.pytz.utc).replace(tzinfo=none) -%}
    {%- for identifier, found in operated.catalog.items() if found.get('kept_at') -%}
        {%- set age = now - modules.datetime.datetime.strptime(found.kept_at, '%Y-%m-%d %H:%M:%S') -%}
        {%- if age.total_seconds() >= retention_hours * 3600 -%}
            {%- do forgotten.append(identifier) -%}
            {%- if execute -%}
                {%- do spark_cdc._send('drop view if exists ' ~ spark_cdc._relation_in(spark_cdc._claims_schema(operated), identifier)) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(forgotten) }}
{%- endmacro -%}
