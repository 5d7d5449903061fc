{#- Refuses a load whose files came, went or changed while it read them. Arguments: entity, load, before and now (files, bytes, digest), known. -#}
{%- macro _check_unchanged(entity, load, before, now, known) -%}
    {%- if before.digest != now.digest -%}
        {%- set message -%}
{{ entity.name }}: the files of {{ load.business_time }} changed while they were read: {{ spark_cdc._counted(before.files, 'file') }} with {# -#}
{{ spark_cdc._counted(before.bytes, 'byte') }} before, {{ spark_cdc._counted(now.files, 'file') }} with {{ spark_cdc._counted(now.bytes, 'byte') }} now, {# -#}
or of another time. Nothing was committed and readers see what they saw before. Run the same command again once they are complete.
        {%- endset -%}
        {%- do spark_cdc._refuse_load(entity, 'input_changed', message, load, known) -%}
    {%- endif -%}
{%- endmacro -%}
