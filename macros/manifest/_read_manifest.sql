{#- The manifest that readers see: which loads count. It is the text of the view <entity>_committed, read anew at each call, and nothing else.
    Loads build on the last commit, which may not be visible yet: see _head(). Arguments: committed (relation of the view). Returns a
    dictionary: loads (ids, oldest first), rows (that exist after the last load), log_rows (written since the last checkpoint), previous (these
    two before the last load, and the definition, layout and applied that it changed), definition (fingerprint of what the hashes were computed
    of), layout (where the ledger holds which column; empty or absent if all lie under their own names, see _layout()), applied (of change
    events: of _applied_by()), sequence (number of the commit), commit (of which run), existed; without the
    view an empty manifest. -#}
{%- macro _read_manifest(committed) -%}
    {{ return(spark_cdc._parse_manifest(spark_cdc._view_text(committed), committed) if load_relation(committed) else spark_cdc._empty_manifest()) }}
{%- endmacro -%}
