{#- Makes a manifest visible, unless somebody else did so first: a compare-and-set on top of two things that every metastore does
    in one transaction, to create a view only if it is not there, and to alter one.

    1. Commit number n (the one before it plus 1) is claimed: `create view if not exists <schema>_commits.<entity>_commit_<n>`, whose
       text is the new manifest. Of several processes one gets it; who reads back another text than his own is refused.
    2. `<entity>_committed` is altered to the same text: readers see it.
    3. Claims with lower numbers go. The last one stays, so that a process that is late by a commit finds it taken.

    A process that dies between 1 and 2 leaves a claim that says all there is to know: whoever comes next finishes the commit (see
    _head()). No lock is held at any time.
    Arguments: capture, manifest (its sequence is that of the commit it builds on), what (who commits what, for the message). Raises an error
    if another process has committed meanwhile. -#}
{%- macro _publish(capture, manifest, what) -%}
    {%- set manifest = dict(manifest, sequence=manifest.sequence + 1, commit=spark_cdc._attempt()) -%}
    {%- set text = spark_cdc._manifest_text(capture, manifest) -%}
    {%- set claim = spark_cdc._claim(capture, manifest.sequence) -%}
    {%- do run_query('create schema if not exists ' ~ spark_cdc._quote(spark_cdc._claims_schema(capture))) -%}
    {%- do run_query('create view if not exists ' ~ claim ~ ' as\n' ~ text) -%}
    {%- set published = spark_cdc._published(capture) -%}
    {%- if published.sequence >= manifest.sequence -%}  {#- another run has finished this commit, or added its own -#}
        {#- a claim that was made too late goes; that of the commit that readers see stays -#}
        {%- if published.sequence > manifest.sequence
                or spark_cdc._parse_manifest(spark_cdc._view_text(claim), claim).commit != published.commit -%}
            {%- do run_query('drop view if exists ' ~ claim) -%}
        {%- endif -%}
        {%- if not spark_cdc._is_committed(manifest, published) -%}
            {%- do spark_cdc._refuse_commit(capture.entity, what, published) -%}
        {%- endif -%}
    {%- else -%}
        {%- set claimed = spark_cdc._parse_manifest(spark_cdc._view_text(claim), claim) -%}
        {%- if claimed.commit != manifest.commit -%}
            {%- do spark_cdc._refuse_commit(capture.entity, what, claimed) -%}
        {%- endif -%}
        {%- do run_query(spark_cdc._replace_view_sql(capture.committed, text, published.existed)) -%}
        {%- do spark_cdc._head(capture) -%}  {#- step 3; and if this process was stopped before step 2, it shows what others committed since -#}
    {%- endif -%}
{%- endmacro -%}


{%- macro _refuse_commit(entity, what, other) -%}
    {%- set message -%}
{{ entity.name }}: another run committed first, a load or an operation such as compact (commit {{ other.sequence }}, whose last load is {# -#}
{{ other.loads[-1] or 'none' }}), while {{ what }} was on its way, which builds on the state before it. Nothing of it was committed, and readers see what the other run committed. Run {# -#}
the same command again.
    {%- endset -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}
