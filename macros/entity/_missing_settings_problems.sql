{#- That a model of an entity has no settings: misspelt in its `meta`, or its YAML entry has another name. Returns a list of texts. -#}
{%- macro _missing_settings_problems(node) -%}
    {%- if spark_cdc._settings_of(node) -%}{{ return([]) }}{%- endif -%}
    {%- set meta, config = spark_cdc._meta_of(node), node.get('config') or {} -%}
    {%- set found = [] -%}
    {%- for key in meta if spark_cdc._meant_by(key, ['spark_cdc']) -%}{%- do found.append("meta has '%s': %s" % (key, spark_cdc._shown_json(meta[key]))) -%}{%- endfor -%}
    {%- for key in config if spark_cdc._meant_by(key, ['spark_cdc']) -%}{%- do found.append("config has '%s'" % key) -%}{%- endfor -%}
    {{ return(['it has no settings: ' ~ (found | join(', ') or 'meta has no spark_cdc') ~ '; accepted is load_type, source and so on below '
        'config.meta.spark_cdc, in the YAML entry that has the name of the model: write them']) }}
{%- endmacro -%}
