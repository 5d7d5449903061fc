{#- The manifest in the text of a view, as _read_manifest() has it. -#}
{%- macro _parse_manifest(text, view) -%}
    {%- set figures = modules.re.search('/[*] spark_cdc manifest: ([{].*[}]) [*]/', text) -%}
    {%- if not figures -%}
        {%- set message -%}
spark_cdc: the view {{ view }} exists but is no manifest of spark_cdc: somebody replaced it. Nothing was written. Put its former text {# -#}
back (its loads are the load_id partitions of the ledger), or rename the entity.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- set loads = modules.re.findall("'([0-9]{8}(?:T[0-9]{6})?-[a-z]+-[0-9a-f]{8})',?\n", text) -%}
    {%- set found = fromjson(figures.group(1)) -%}
    {#- earlier releases did not count commits, or did not say which of them brought a load: all have come by then -#}
    {%- set sequence = found.get('sequence', 0) -%}
    {%- set commit = {'version': sequence, 'at': none} -%}
    {%- set lacking = {'sequence': sequence, 'recommitted': [dict(commit, after='')] if loads else [], 'rewritten': commit} -%}
    {{ return(dict(lacking, **dict(found, existed=true, loads=loads))) }}
{%- endmacro -%}
