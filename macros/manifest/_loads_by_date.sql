{#- Loads that compact has squashed are listed by their own names, in the place of what stands for them. -#}
{%- macro _loads_by_date(ledger, loads) -%}
    {%- set histories = [] -%}
    {%- for load_id in loads if spark_cdc._load_kind(load_id).is_history -%}{%- do histories.append(load_id) -%}{%- endfor -%}
    {%- set records = spark_cdc._load_records(ledger, histories) if histories else {} -%}
    {%- set listed = [] -%}
    {%- for load_id in loads -%}
        {%- if load_id in histories -%}
            {%- do listed.extend(records[load_id].squashed) -%}
        {%- elif not spark_cdc._load_kind(load_id).is_squashed -%}
            {%- do listed.append(load_id) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(listed) }}
{%- endmacro -%}
