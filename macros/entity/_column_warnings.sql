{#- What looks like a setting of a column and has no effect: keys of its meta that are a slip of one, roles written as keys, and settings that stand beside meta.
    Other keys of meta are the user's own. Arguments: name (of the entity), node. Returns a list of texts. -#}
{%- macro _column_warnings(name, node) -%}
    {%- set known = spark_cdc._known_settings().column | list -%}
    {%- set instead = {'key': 'role: key', 'ignore': 'role: ignore', 'control': 'role: control', 'required': 'nullable: false', 'spark_cdc': 'its keys directly'} -%}
    {%- set found, meant = {}, {} -%}
    {%- for column in spark_cdc._columns_of(node) -%}
        {%- set meta = spark_cdc._meta_of(column) -%}
        {%- for key in meta | map('string') if key not in known -%}
            {%- if key not in meant -%}{%- do meant.update({key: instead.get(key | lower) or spark_cdc._meant_by(key, known)}) -%}{%- endif -%}
            {%- if meant[key] is not none -%}{%- do found.setdefault('meta has the key %s' % key, [meant[key]]).append(column.name) -%}{%- endif -%}
        {%- endfor -%}
        {%- for key in column if key in known and key not in meta -%}
            {%- do found.setdefault('%s stands beside meta' % key, [key]).append(column.name) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set warnings = [] -%}
    {%- for what, columns in found.items() -%}
        {%- do warnings.append('%s: %s of column %s, which has no effect. Write %s under meta, or give the key another name (in the YAML of stg_%s).'
            % (name, what, columns[1:] | join(', '), columns[0], name)) -%}
    {%- endfor -%}
    {{ return(warnings) }}
{%- endmacro -%}
