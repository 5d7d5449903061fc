{#- Loads that compact has squashed are listed by their own names, in the place of what stands for them. -#}
{%- macro _loads_by_date(ledger, loads) -%}
    {%- set squashed = [] -%}
    {%- for load_id in loads if spark_cdc._is_history(load_id) -%}{%- do squashed.append(load_id) -%}{%- endfor -%}
    {%- set records = spark_cdc._load_records(ledger, squashed) if squashed else {} -%}
    {%- set listed = [] -%}
    {%- for load_id in loads -%}
        {%- if load_id in squashed -%}
            {%- do listed.extend(records[load_id].squashed) -%}
        {%- elif not spark_cdc._is_squashed(load_id) -%}
            {%- do listed.append(load_id) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(listed) }}
{%- endmacro -%}
