{#- Brings <entity>_committed up to date with the columns, and cdc_loads with the manifest, where the ledger is not part of the run. A run
    with a business date that leaves the ledger out (a retry of a refused load, most often) would look like a load that succeeded, and
    columns that no load has brought yet can't be shown: both are refused. With --empty and --sample the view is only made if it is not there.
    Arguments: run (capture with manifest). -#}
{%- macro _commit_nothing(run) -%}
    {%- set name, manifest = run.entity.name, run.manifest -%}
    {%- set time = spark_cdc._business_time_of(name) -%}
    {%- if spark_cdc._is_load_command() and spark_cdc._is_due(run, manifest) -%}
        {%- set message -%}
{{ name }}: nothing of {{ spark_cdc._time_text(run.entity, time) }} is committed, and {{ name }}_ledger is not part of this run, so there is {# -#}
nothing to commit. {# -#}
Load the date: {{ spark_cdc._load_command(run.entity, spark_cdc._time_text(run.entity, time)) }}.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- elif manifest.loads and manifest.definition and not spark_cdc._has_columns_of(run.entity, manifest.definition) -%}
        {%- set message -%}
{{ name }}: the columns of stg_{{ name }} are not those of the last load, {{ manifest.loads[-1] }}, and this run does not load {# -#}
{{ name }}. Nothing was committed. Load a business date, which applies the change: {{ spark_cdc._load_command(run.entity, none) }}.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- if not spark_cdc._is_load_command() -%}
        {%- if not spark_cdc._is_there(run.committed) -%}
            {%- do spark_cdc._show_manifest(run, spark_cdc._manifest_text(run, spark_cdc._empty_manifest()), false) -%}
        {%- endif -%}
        {{ return('') }}
    {%- endif -%}
    {%- do spark_cdc._show_manifest(run, spark_cdc._manifest_text(run, manifest), manifest.existed) -%}
    {%- do spark_cdc._head(run) -%}  {#- if this process was stopped before the statement, it hid what others have committed since -#}
    {%- do spark_cdc._record_missing_loads(run, manifest) -%}
    {%- do spark_cdc._drop_claims(run, spark_cdc._claims(run) | select('lt', manifest.sequence)) -%}
{%- endmacro -%}
