{#- Lets this session read on where files are missing or damaged, or no longer (on: false): verify is to find them, and the replay that brings
    their rows back is not to stop at them. dbt opens a session anew for each node and operation, but where all nodes share one (method
    session): what loads there would leave rows out unnoticed, so there it is not done. -#}
{%- macro _read_despite_damage(on=true) -%}
    {%- for setting in ['spark.sql.files.ignoreMissingFiles', 'spark.sql.files.ignoreCorruptFiles'] if target.method != 'session' -%}
        {%- do spark_cdc._send('set ' ~ setting ~ ' = true' if on else 'reset ' ~ setting) -%}
    {%- endfor -%}
    {%- if on and target.method != 'session' -%}{%- do spark_cdc._send('set `parquet.page.verify-checksum.enabled` = true') -%}{%- endif -%}
{%- endmacro -%}
