{%- macro _parse_manifest(text, committed) -%}
    {%- set figures = modules.re.search('/[*] spark_cdc manifest: ([{].*[}]) [*]/', text) -%}
    {%- if not figures -%}
        {% do exceptions.raise_compiler_error(
            "spark_cdc: the view " ~ committed ~ " exists but is no manifest of spark_cdc: somebody replaced it. "
            ~ "Nothing was written. Put its former text back (its loads are the load_id partitions of the ledger), or "
            ~ "rename the entity."
        ) %}
    {%- endif -%}
    {%- set manifest = fromjson(figures.group(1)) -%}
    {%- do manifest.setdefault('sequence', 0) -%}  {#- written by a version that did not count commits -#}
    {%- do manifest.update({'existed': true, 'loads': modules.re.findall("'([0-9]{8}(?:T[0-9]{6})?-[a-z]+-[0-9a-f]{8})',?\n", text)}) -%}
    {{ return(manifest) }}
{%- endmacro -%}
