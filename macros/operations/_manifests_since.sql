{#- The manifests from which the versions after one can be told: the last commit's, and before each commit that took loads away what was kept of the
    one before. Returns a list, the oldest first: where that begins with a commit that took loads away after the version, the version can't be told of. -#}
{%- macro _manifests_since(capture, head, version) -%}
    {%- set found = [head] -%}
    {%- if head.rewritten.version > version -%}
        {%- set kept = spark_cdc._kept_versions(capture) -%}
        {%- for _ in kept if found[0].rewritten.version > version -%}
            {%- set before = kept.get(found[0].rewritten.version - 1) -%}
            {%- if before -%}{%- do found.insert(0, before) -%}{%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(found) }}
{%- endmacro -%}
