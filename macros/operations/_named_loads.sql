{#- The loads that count, or that somebody is about to make count: all that the entity's manifests name, be they
    committed, claimed, drafted, tagged or kept for change feeds. Loads that were undone are among them until vacuum has them forgotten. Returns a dictionary: named, and squashed (what the histories among them stand for). -#}
{%- macro _named_loads(operated) -%}
    {%- set named = [] -%}
    {%- for identifier, found in spark_cdc._catalog_of(operated).items()
            if found.type == 'VIEW' and identifier not in operated.forgotten_versions and ('spark_cdc manifest' in found.text or modules.re.search('_(committed|commit_.*|replay)$', identifier)) -%}
        {%- if 'spark_cdc manifest:' in found.text -%}
            {%- set manifest = spark_cdc._parse_manifest(found.text, identifier) -%}
            {%- set undone = manifest.get('undone', []) | map(attribute='loads') | sum(start=[]) -%}
            {%- do named.extend(manifest.loads + undone | reject('in', operated.forgotten) | list) -%}
        {%- else -%}
            {%- do named.extend(modules.re.findall('[0-9]{8}(?:T[0-9]{6})?-[a-z]+-[0-9a-f]{8}', found.text)) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set named = named | unique | list -%}
    {%- set histories = spark_cdc._loads_with(named, 'is_history') -%}
    {%- set records = spark_cdc._load_records(operated.masked, histories) -%}
    {%- if records | length < histories | length -%}
        {%- set missing = 'the records of squashed loads are missing (' ~ histories | join(', ') ~ '), which say what to keep' -%}
        {%- do spark_cdc._refuse_vacuum(operated, missing) -%}
    {%- endif -%}
    {{ return({'named': named, 'squashed': records.values() | map(attribute='squashed') | sum(start=[]) | unique | list}) }}
{%- endmacro -%}
