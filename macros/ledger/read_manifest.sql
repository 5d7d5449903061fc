{#- The manifest that readers see: which loads count. It is the text of the view <entity>_committed, read anew at each
    call, and nothing else. Loads build on the last commit, which may not be visible yet: see _head().
    Arguments: committed (relation of the view). Returns a dictionary: loads (list of load ids, oldest first),
    rows (rows that exist after the last load), log_rows (rows written since the last checkpoint), previous (the
    same two figures before the last load), definition (fingerprint of what the hashes were computed of), layout (where the ledger holds which column; absent if all lie under their
    own names, see layout()), sequence (number of the commit), commit
    (of which run), existed, or an empty manifest
    (loads: []) if the view does not exist. -#}
{%- macro read_manifest(committed) -%}
    {%- if not load_relation(committed) -%}
        {{ return(spark_cdc._empty_manifest()) }}
    {%- endif -%}
    {{ return(spark_cdc._parse_manifest(spark_cdc._view_text(committed), committed)) }}
{%- endmacro -%}


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


{%- macro _empty_manifest() -%}
    {{ return({'loads': [], 'rows': 0, 'log_rows': 0, 'previous': {'rows': 0, 'log_rows': 0}, 'definition': none,
        'existed': false, 'sequence': 0}) }}
{%- endmacro -%}


{#- A value as JSON that can stand in a SQL comment, whatever texts it holds: comments end, nest and have their ${settings}
    filled in wherever they are. -#}
{%- macro _comment_json(value) -%}
    {{ return(tojson(value, sort_keys=true).replace('*', '\\u002a').replace('$', '\\u0024')) }}
{%- endmacro -%}
