{#- Makes a manifest visible, unless somebody else did so first: a compare-and-set on top of two things that every metastore does
    in one transaction, to create a view only if it is not there, and to alter one.

    1. Commit number n (the one before it plus 1) is claimed: `create view if not exists <schema>_commits.<entity>_commit_<n>`, whose
       text is the new manifest. Of several processes one gets it; who reads back another text than his own is refused.
    2. If there is no claim with a higher number, `<entity>_committed` is altered to the same text: readers see it. A higher one means that others
       have finished this commit and gone on, or that the claim was made too late.
    3. Claims with lower numbers go, once cdc_loads has a row of the commit: the caller drops them. The last one stays, so that a
       process that is late by a commit finds it taken.

    A process that dies between 1 and 2 leaves a claim that says all there is to know: whoever comes next finishes the commit (see
    _head()). One that dies between 2 and 3 leaves more than one claim, by which the next load knows that a row of cdc_loads may be missing. No lock is held
    at any time.
    Arguments: capture, manifest (its sequence is that of the commit it builds on), what (who commits what, for the message), before (the manifest
    that it builds on; none where it has the same rows, as after compact), is_move (whether it is an undo or redo, which goes further if it is repeated). Returns the claims with lower numbers. Raises an error if another process has committed meanwhile. -#}
{%- macro _publish(capture, manifest, what, before=none, is_move=false) -%}
    {%- set manifest = dict(manifest, sequence=manifest.sequence + 1, commit=spark_cdc._attempt()) -%}
    {%- if before is not none -%}
        {%- set manifest = spark_cdc._versioned_manifest(manifest, before) -%}
        {%- if manifest.rewritten.version == manifest.sequence -%}{%- do spark_cdc._write_kept_version(capture, before) -%}{%- endif -%}
    {%- endif -%}
    {%- set text = spark_cdc._manifest_text(capture, manifest) -%}
    {%- set claim = spark_cdc._claim(capture, manifest.sequence) -%}
    {%- if not spark_cdc._is_begun_load() -%}{%- do spark_cdc._create_claims_schemas([capture]) -%}{%- endif -%}
    {%- do spark_cdc._send('create view if not exists ' ~ claim ~ ' as\n' ~ text) -%}
    {%- set claimed = spark_cdc._parse_manifest(spark_cdc._view_text(claim), claim) -%}
    {%- if claimed.commit != manifest.commit -%}
        {%- do spark_cdc._refuse_commit(capture.entity, what, claimed, is_move) -%}
    {%- endif -%}
    {%- if spark_cdc._claims(capture) | max > manifest.sequence -%}
        {%- do spark_cdc._send('drop view if exists ' ~ claim) -%}
        {%- set published = spark_cdc._published(capture) -%}
        {%- if not spark_cdc._is_committed(manifest, published) -%}
            {%- do spark_cdc._refuse_commit(capture.entity, what, published, is_move) -%}
        {%- endif -%}
    {%- else -%}
        {#- of a draft, and of a state without loads, a manifest tells nothing of the view that readers have -#}
        {%- set exists = (manifest.existed and spark_cdc._is_begun_load()) or spark_cdc._is_there(capture.committed) -%}
        {%- do spark_cdc._show_manifest(capture, text, exists) -%}
    {%- endif -%}
    {%- set claims = spark_cdc._claims(capture) -%}
    {%- if claims | max > manifest.sequence -%}
        {%- do spark_cdc._head(capture) -%}  {#- if this process was stopped before step 2, it has hidden what others committed since -#}
    {%- endif -%}
    {{ return(claims | select('lt', manifest.sequence) | list) }}
{%- endmacro -%}


{%- macro _refuse_commit(entity, what, other, is_move=false) -%}
    {%- set message -%}
{{ entity.name }}: another run committed first, a load or an operation such as compact (commit {{ other.sequence }}, whose last load is {# -#}
{{ other.loads[-1] or 'none' }}), while {{ what }} was on its way, which builds on the state before it. Nothing of it was committed, and readers see what the other run committed. {# -#}
{%- if is_move -%}
If that is not the state that was meant, name the one to go back to, for the same command would go on from the present one: {# -#}
spark-cdc undo {{ entity.name }} --to {{ other.loads[-1] or 'LOAD' }}, or an earlier load.
{%- else -%}
Run the same command again.
{%- endif -%}
    {%- endset -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}
