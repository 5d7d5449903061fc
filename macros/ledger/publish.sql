{#- Makes a manifest visible, unless somebody else did so first: a compare-and-set on top of two things that every metastore does
    in one transaction, to create a view only if it is not there, and to alter one.

    1. Commit number n (the one before it plus 1) is claimed: `create view if not exists <schema>_commits.<entity>_commit_<n>`, whose
       text is the new manifest. Of several processes one gets it; who reads back another text than his own is refused. Claims have a
       schema of their own, because dbt's look at the models' schema fails if a view goes while it lasts.
    2. `<entity>_committed` is altered to the same text: readers see it.
    3. Claims with lower numbers go. The last one stays, so that a process that is late by a commit finds it taken.

    A process that dies between 1 and 2 leaves a claim that says all there is to know: whoever comes next finishes the commit (see
    _head()). No lock is held at any time.
    Arguments: name (of the entity), committed (relation), text (query of committed_sql() for the manifest, whose sequence is one more
    than that of the manifest that it was made from), manifest (the new one), what (who commits what, for the message). Returns nothing;
    raises an error if another process has committed meanwhile. -#}
{%- macro publish(name, committed, text, manifest, what) -%}
    {%- set claim = spark_cdc._claim(committed, name, manifest.sequence) -%}
    {%- do spark_cdc._create_commits_schema(committed.schema) -%}
    {%- do run_query('create view if not exists ' ~ claim ~ ' as\n' ~ text) -%}
    {%- set published = spark_cdc._published(committed, spark_cdc._views_of(committed, name)) -%}
    {%- if published.sequence >= manifest.sequence -%}
        {#- a claim that was made too late goes; that of the commit that readers see stays -#}
        {%- if published.sequence > manifest.sequence
                or spark_cdc._parse_manifest(spark_cdc._view_text(claim), claim).commit != published.commit -%}
            {%- do run_query('drop view if exists ' ~ claim) -%}
        {%- endif -%}
        {%- if not manifest.loads or manifest.loads[-1] not in published.loads -%}
            {%- do spark_cdc._refuse_commit(name, what, published) -%}
        {%- endif -%}
        {%- if model['resource_type'] != 'macro' -%}
            {%- do store_raw_result('main', message='COMMITTED', code='COMMITTED', rows_affected='-1') -%}
        {%- endif -%}
        {{ return('') }}  {#- another run has finished this commit, and added its own -#}
    {%- endif -%}
    {%- set claimed = spark_cdc._parse_manifest(spark_cdc._view_text(claim), claim) -%}
    {%- if claimed.commit != manifest.commit -%}
        {%- do spark_cdc._refuse_commit(name, what, claimed) -%}
    {%- endif -%}
    {%- do spark_cdc._show(name, committed, text, published.existed) -%}
{%- endmacro -%}


{#- The second and the third step. What was committed by others in the meantime, if this process was stopped between the first
    and the second, is made visible again. -#}
{%- macro _show(name, committed, text, exists) -%}
    {%- if model['resource_type'] == 'macro' -%}  {#- dbt run-operation has no main statement -#}
        {%- do run_query(spark_cdc._replace_view_sql(committed, text, exists)) -%}
    {%- else -%}
        {%- call statement('main') -%}
            {{ spark_cdc._replace_view_sql(committed, text, exists) }}
        {%- endcall -%}
    {%- endif -%}
    {%- do spark_cdc._head(committed, name) -%}
{%- endmacro -%}


{#- The manifest of the last commit. Where its process died before readers could see it, that is made good here first, and claims that are
    no longer needed go: only by commands that load. -#}
{%- macro _head(committed, name) -%}
    {%- set views = spark_cdc._views_of(committed, name) -%}
    {%- set published = spark_cdc._published(committed, views) -%}
    {%- set newest = views.claims | sort | last -%}
    {%- if newest and not views.committed and not spark_cdc._is_there(committed, name ~ '_ledger') -%}
        {%- do spark_cdc._drop_claims(committed, name, views.claims) -%}  {#- of an entity that was dropped -#}
        {{ return(published) }}
    {%- elif newest and newest > published.sequence -%}
        {%- set claim = spark_cdc._claim(committed, name, newest) -%}
        {%- set text = spark_cdc._query_of_view(spark_cdc._view_text(claim)) -%}
        {%- if not spark_cdc._is_load_command() -%}
            {{ return(spark_cdc._parse_manifest(text, claim)) }}
        {%- endif -%}
        {%- do log(name ~ ': finishing commit ' ~ newest ~ ', which a run that ended too early had claimed', info=true) -%}
        {%- do run_query(spark_cdc._replace_view_sql(committed, text, published.existed)) -%}
        {%- set published = spark_cdc._parse_manifest(text, claim) -%}
    {%- endif -%}
    {%- set needless = [] -%}
    {%- for sequence in views.claims if sequence < published.sequence -%}{%- do needless.append(sequence) -%}{%- endfor -%}
    {%- do spark_cdc._drop_claims(committed, name, needless) -%}
    {{ return(published) }}
{%- endmacro -%}


{%- macro _drop_claims(committed, name, claims) -%}
    {%- for sequence in claims if spark_cdc._is_load_command() -%}
        {%- do run_query('drop view if exists ' ~ spark_cdc._claim(committed, name, sequence)) -%}
    {%- endfor -%}
{%- endmacro -%}


{#- What readers see. -#}
{%- macro _published(committed, views) -%}
    {{ return(spark_cdc._parse_manifest(spark_cdc._view_text(committed), committed) if views.committed else spark_cdc._empty_manifest()) }}
{%- endmacro -%}


{#- Which of an entity's manifests there are, asked of the metastore and not of dbt's cache: {committed: whether the view is there,
    claims: numbers}. -#}
{%- macro _views_of(committed, name) -%}
    {%- set claims = [] -%}
    {%- set schema = spark_cdc._commits_schema(committed.schema) -%}
    {%- if spark_cdc._query('show schemas like ' ~ spark_cdc._literal(schema)) -%}
        {%- for row in spark_cdc._query('show views in ' ~ spark_cdc._quote(schema) ~ ' like ' ~ spark_cdc._literal(name ~ '_commit_*')) -%}
            {%- set number = modules.re.fullmatch(name ~ '_commit_([0-9]{6,})', row.viewName) -%}
            {%- if number -%}{%- do claims.append(number.group(1) | int) -%}{%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return({'committed': spark_cdc._is_there(committed, committed.identifier), 'claims': claims}) }}
{%- endmacro -%}


{#- Whether there is a table or view of a name beside a relation. -#}
{%- macro _is_there(relation, identifier) -%}
    {{ return(spark_cdc._query('show tables in ' ~ relation.without_identifier() ~ ' like ' ~ spark_cdc._literal(identifier)) | length > 0) }}
{%- endmacro -%}


{#- The schema in which the commits of a schema's entities are claimed. -#}
{%- macro _commits_schema(schema) -%}{{ return(schema ~ '_commits') }}{%- endmacro -%}


{%- macro _create_commits_schema(schema) -%}
    {%- do run_query('create schema if not exists ' ~ spark_cdc._quote(spark_cdc._commits_schema(schema))) -%}
{%- endmacro -%}


{#- The relation that claims a commit. -#}
{%- macro _claim(committed, name, sequence) -%}
    {{ return(spark_cdc._relation_in(spark_cdc._commits_schema(committed.schema), name ~ '_commit_' ~ '%06d' | format(sequence))) }}
{%- endmacro -%}


{%- macro _view_text(view) -%}
    {{ return(spark_cdc._query('show create table ' ~ view)[0].createtab_stmt) }}
{%- endmacro -%}


{#- The query in a manifest's `show create table`. -#}
{%- macro _query_of_view(text) -%}
    {{ return('select\n    ' ~ text[text.index('/* spark_cdc manifest:'):] | trim) }}
{%- endmacro -%}


{#- Creates a view, or alters it: what readers hold on to is never gone in between, as it would be with `create or replace`. -#}
{%- macro _replace_view_sql(view, text, exists) -%}
{{ ('alter view ' if exists else 'create view if not exists ') ~ view }} as
{{ text }}
{%- endmacro -%}


{%- macro _refuse_commit(name, what, other) -%}
    {% do exceptions.raise_compiler_error(
        name ~ ': another run committed ' ~ (other.loads[-1] or 'a manifest without loads') ~ ' (commit ' ~ other.sequence ~ ') while ' ~ what
        ~ ' was on its way, which builds on the state before it. Nothing of it was committed, and readers see what the other run committed. Run '
        ~ 'the same command again.'
    ) %}
{%- endmacro -%}
