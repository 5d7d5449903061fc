{#- Which commit brought which load: the versions of a change feed. Arguments: manifest, records (of its loads). Returns a list in the order of the loads,
    which is that of the versions, of {load_id, version, at (UTC, as text), written_as (the load under which its rows lie: another name where compact has
    squashed it)}. -#}
{%- macro _commits(manifest, records) -%}
    {%- set commits = [] -%}
    {%- for written_as in manifest.loads -%}
        {%- set record, kind = records[written_as], spark_cdc._load_kind(written_as) -%}
        {%- set own = [{'load_id': written_as, 'version': record.get('version'), 'at': record.get('started_at')}] -%}
        {%- set squashed = [] -%}
        {%- for load_id in record.get('squashed') or [] -%}{%- do squashed.append({'load_id': load_id, 'version': none, 'at': none}) -%}{%- endfor -%}
        {%- for commit in (record.get('commits') or squashed if kind.is_squashed else own) -%}
            {%- set again = manifest.recommitted | selectattr('after', 'lt', commit.load_id) | list | last | default({'version': 0}) -%}
            {%- set is_again = again.version > (commit.version or 0) -%}
            {%- do commits.append({
                'load_id': commit.load_id,
                'version': again.version if is_again else commit.version or 0,
                'at': again.get('at') or commit.at if is_again else commit.at,
                'written_as': written_as,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(commits) }}
{%- endmacro -%}
