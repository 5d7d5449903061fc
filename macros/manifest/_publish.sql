{#- Makes a manifest visible, unless somebody else did so first: a compare-and-set on top of two things that every metastore does
    in one transaction, to create a view only if it is not there, and to alter one.

    1. Commit number n (the one before it plus 1) is claimed: `create view if not exists <schema>_commits.<entity>_commit_<n>`, whose
       text is the new manifest. Of several processes one gets it; who reads back another text than his own is refused.
    2. `<entity>_committed` is altered to the same text: readers see it.
    3. Claims with lower numbers go. The last one stays, so that a process that is late by a commit finds it taken.

    A process that dies between 1 and 2 leaves a claim that says all there is to know: whoever comes next finishes the commit (see
    _head()). No lock is held at any time.
    Arguments: capture, manifest (of _next_commit()), what (who commits what, for the message). Raises an error if another process has
    committed meanwhile. -#}
{%- macro _publish(capture, manifest, what) -%}
    {%- set text = spark_cdc._committed_sql(capture.entity, capture.ledger, manifest) -%}
    {%- do spark_cdc._check_manifest_size(capture.entity, text) -%}
    {%- set claim = spark_cdc._claim(capture, manifest.sequence) -%}
    {%- do run_query('create schema if not exists ' ~ spark_cdc._quote(spark_cdc._commits_schema(capture.schema))) -%}
    {%- do run_query('create view if not exists ' ~ claim ~ ' as\n' ~ text) -%}
    {%- set published = spark_cdc._published(capture, spark_cdc._commit_views(capture)) -%}
    {%- if published.sequence >= manifest.sequence -%}
        {#- a claim that was made too late goes; that of the commit that readers see stays -#}
        {%- if published.sequence > manifest.sequence
                or spark_cdc._parse_manifest(spark_cdc._view_text(claim), claim).commit != published.commit -%}
            {%- do run_query('drop view if exists ' ~ claim) -%}
        {%- endif -%}
        {%- if not manifest.loads or manifest.loads[-1] not in published.loads -%}
            {%- do spark_cdc._refuse_commit(capture.entity, what, published) -%}
        {%- endif -%}
        {{ return('') }}  {#- another run has finished this commit, and added its own -#}
    {%- endif -%}
    {%- set claimed = spark_cdc._parse_manifest(spark_cdc._view_text(claim), claim) -%}
    {%- if claimed.commit != manifest.commit -%}
        {%- do spark_cdc._refuse_commit(capture.entity, what, claimed) -%}
    {%- endif -%}
    {%- do spark_cdc._show(capture, text, published.existed) -%}
{%- endmacro -%}


{%- macro _refuse_commit(entity, what, other) -%}
    {%- set message -%}
{{ entity.name }}: another run committed {{ other.loads[-1] or 'a manifest without loads' }} (commit {{ other.sequence }}) while {{ what }} {# -#}
was on its way, which builds on the state before it. Nothing of it was committed, and readers see what the other run committed. Run {# -#}
the same command again.
    {%- endset -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}
