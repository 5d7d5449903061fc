{#- Whether a draft may no longer take the place of what is committed: why not, or an empty text. Loads that were added since are
    no reason, the draft only lacks them yet. -#}
{%- macro _outdated(draft, head) -%}
    {%- if not draft.existed -%}
        {{ return('') }}
    {%- endif -%}
    {%- set made_from = draft.replay.head -%}
    {%- if head.loads | length >= made_from[0] and spark_cdc._loads_fingerprint(head.loads[:made_from[0]]) == made_from[1] -%}
        {{ return('') }}
    {%- endif -%}
    {{ return('since it was made, another run has committed other loads in the place of those that it rebuilds (commit ' ~ head.sequence ~ ', last load '
        ~ (head.loads[-1] or 'none') ~ ')') }}
{%- endmacro -%}


{%- macro _loads_fingerprint(loads) -%}{{ return(local_md5(loads | join(','))[:8]) }}{%- endmacro -%}
