{#- What is there of a published table; another relation of its name is refused. Returns a dictionary: exists, record (what the table says of the version
    that it has, see _keep_target(); none if that is not known). -#}
{%- macro _found_target(target) -%}
    {%- set relation = target.relation -%}
    {%- if not spark_cdc._is_there(relation) -%}{{ return({'exists': false, 'record': none}) }}{%- endif -%}
    {%- if target.is_view -%}
        {%- set views = spark_cdc._query('show views in ' ~ relation.without_identifier() ~ ' like ' ~ spark_cdc._literal(relation.identifier)) -%}
        {%- set record = spark_cdc._target_record_in(spark_cdc._view_text(relation)) if views else none -%}
        {%- do spark_cdc._check_target_mark(target, (record or {}).get('mark')) -%}
        {{ return({'exists': true, 'record': record}) }}
    {%- endif -%}
    {%- set properties = spark_cdc._query('show tblproperties ' ~ relation) | selectattr('key', 'equalto', 'spark_cdc.published') -%}
    {%- do spark_cdc._check_target_mark(target, properties | map(attribute='value') | first | default(none)) -%}
    {{ return({'exists': true, 'record': spark_cdc._target_record_of_delta(relation) if target.format == 'delta' else spark_cdc._target_record_of_iceberg(relation)}) }}
{%- endmacro -%}


{#- The record in a text that holds one, or none. -#}
{%- macro _target_record_in(text) -%}
    {%- set found = modules.re.search('spark_cdc published: ([{].*?[}])', text or '') -%}
    {{ return(fromjson(found.group(1)) if found else none) }}
{%- endmacro -%}


{%- macro _check_target_mark(target, mark) -%}
    {%- if mark != target.mark -%}
        {%- do spark_cdc._refuse_target(target, 'a relation of that name is there, but not the one that this model keeps (' ~ target.mark ~ '): it '
            ~ ('is of another one (' ~ mark ~ ')' if mark else 'was made by somebody else')
            ~ '. Give the model another name, or drop what is there, if nobody needs it') -%}
    {%- endif -%}
{%- endmacro -%}


{#- The record in the newest commit of ours, if those that came behind it have changed no rows. Log files older than Delta's retention are gone. -#}
{%- macro _target_record_of_delta(relation) -%}
    {%- set harmless = [
        'OPTIMIZE', 'REORG', 'VACUUM START', 'VACUUM END', 'SET TBLPROPERTIES', 'UNSET TBLPROPERTIES', 'ADD COLUMNS', 'CHANGE COLUMN', 'CHANGE COLUMNS',
        'RENAME COLUMN', 'COMPUTE STATS', 'CLUSTER BY', 'UPGRADE PROTOCOL', 'ADD CONSTRAINT', 'DROP CONSTRAINT',
    ] -%}
    {%- for commit in spark_cdc._query('describe history ' ~ relation ~ ' limit 100') -%}
        {%- set record = spark_cdc._target_record_in(commit.userMetadata) -%}
        {%- if record or commit.operation not in harmless -%}{{ return(record) }}{%- endif -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- The same of the snapshots from which the present one comes: after a rollback those before it. -#}
{%- macro _target_record_of_iceberg(relation) -%}
    {%- set sql -%}
select
    snapshots.operation,
    snapshots.summary['spark_cdc'] as record
from {{ relation }}.history as history
inner join {{ relation }}.snapshots as snapshots
    on history.snapshot_id = snapshots.snapshot_id
where history.is_current_ancestor
order by history.made_current_at desc
limit 100
    {%- endset -%}
    {%- for snapshot in spark_cdc._query(sql) -%}
        {%- set record = spark_cdc._target_record_in(snapshot.record) -%}
        {%- if record or snapshot.operation != 'replace' -%}{{ return(record) }}{%- endif -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}
