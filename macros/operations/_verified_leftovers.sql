{#- What is left, where everybody may read it, of loads and events from before an entity's columns were sensitive. Returns a list of findings, see
    _verified_list(). -#}
{%- macro _verified_leftovers(verified) -%}
    {%- set findings = [] -%}
    {%- set name = verified.entity.name -%}
    {%- set known = spark_cdc._partitions_by_load(verified.ledger) -%}
    {%- set left = spark_cdc._partitions_by_load(verified.masked) | reject('in', known) | sort -%}
    {%- if left -%}
        {%- do findings.append({
            'problem': verified.masked ~ ' holds ' ~ spark_cdc._counted(left | length, 'load') ~ ' from before its columns were sensitive',
            'repair': 'spark-cdc vacuum --select ' ~ name ~ ' --retention 0 --force --execute',
            'examples': left[:3] | join(', '),
        }) -%}
    {%- endif -%}
    {%- for identifier in verified.catalog if modules.re.fullmatch(name ~ '_(events|(events|ledger)_before_[0-9a-f]+)', identifier) -%}
        {%- set table = spark_cdc._relation_in(verified.schema, identifier) -%}
        {%- do findings.append({
            'problem': 'the table ' ~ table ~ ' is left from before the columns of ' ~ name ~ ' were sensitive',
            'repair': 'drop table ' ~ table ~ ' purge',
        }) -%}
    {%- endfor -%}
    {{ return(findings) }}
{%- endmacro -%}
