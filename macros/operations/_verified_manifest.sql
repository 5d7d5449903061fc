{#- What is wrong with the manifest: it, or the ledger, is missing; somebody replaced or altered it; it is not that of the last commit.
    Returns a list of findings, see _verified_list(). -#}
{%- macro _verified_manifest(verified) -%}
    {%- set name = verified.entity.name -%}
    {%- set committed = verified.catalog.get(verified.committed.identifier) -%}
    {%- set again = 'dbt run --select ' ~ name ~ '_committed' -%}
    {%- set dropped = 'drop view ' ~ verified.committed ~ '; then ' ~ again -%}
    {%- set manifest = verified.manifest -%}
    {%- set claims = {} -%}
    {%- for identifier, view in verified.catalog.items() if modules.re.fullmatch(name ~ '_commit_[0-9]{6,}', identifier) -%}
        {%- do claims.update({identifier: view.text}) -%}
    {%- endfor -%}
    {%- set from_claim = ' (which brings back the last commit)' if claims else '' -%}
    {%- set missing = [verified.ledger, verified.masked] | rejectattr('identifier', 'in', verified.catalog) | list -%}
    {%- if missing -%}
        {{ return([{
            'problem': 'the table ' ~ missing[0] ~ ' is missing, which ' ~ verified.committed ~ ' reads',
            'repair': 'restore the table from a backup, or drop the view ' ~ verified.committed ~ ' and load anew',
        }] if committed else []) }}
    {%- elif not committed -%}
        {{ return([{
            'problem': 'the view ' ~ verified.committed ~ ' is missing, so that no load counts',
            'repair': again ~ (from_claim or ' after a load of the first date'),
        }] if claims or spark_cdc._partitions_by_load(verified.ledger) else []) }}
    {%- elif not manifest.existed -%}
        {{ return([{
            'problem': 'the view ' ~ verified.committed ~ ' is no manifest: somebody replaced it',
            'repair': dropped ~ from_claim,
        }]) }}
    {%- endif -%}

    {%- set findings = [] -%}
    {%- for identifier, text in claims.items() if 'spark_cdc manifest:' in text -%}
        {%- set claimed = spark_cdc._parse_manifest(text, identifier) -%}
        {%- if claimed.sequence == manifest.sequence and claimed.loads != manifest.loads -%}
            {%- set differing = manifest.loads | reject('in', claimed.loads) | join(', ') ~ ' too many, '
                ~ claimed.loads | reject('in', manifest.loads) | join(', ') ~ ' missing' -%}
            {%- do findings.append({
                'problem': 'the view ' ~ verified.committed ~ ' names other loads than its last commit: ' ~ differing, 'repair': dropped,
            }) -%}
        {%- elif claimed.sequence > manifest.sequence -%}
            {%- set said = ': commit ' ~ claimed.sequence ~ ' is claimed but not shown yet; the next run of ' ~ name ~ ' finishes it' -%}
            {%- do log(name ~ said, info=true) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set expected = spark_cdc._committed_sql(verified.entity, verified.masked, manifest) -%}
    {%- if not findings and expected.split() != committed.text.split() -%}
        {%- do findings.append({
            'problem': 'the text of the view ' ~ verified.committed ~ ' is not what its manifest makes: somebody altered it, or another version of '
                ~ 'spark_cdc wrote it',
            'repair': again,
        }) -%}
    {%- endif -%}
    {%- if manifest.loads != manifest.loads | sort -%}
        {%- do findings.append({
            'problem': 'the manifest names its loads in another order than that of their dates',
            'examples': manifest.loads | join(', '),
            'repair': again,
        }) -%}
    {%- endif -%}
    {{ return(findings) }}
{%- endmacro -%}
