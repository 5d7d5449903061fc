{#- What is wrong with what an entity says of columns that come, go or change (see docs/schema_change.md), as a list of texts. Arguments:
    columns (of the YAML), settings (meta.spark_cdc). -#}
{%- macro _definition_problems(columns, settings) -%}
    {%- set problems = [] -%}
    {%- set declared = [] -%}
    {%- set stored = [] -%}
    {%- for column in columns -%}
        {%- do declared.append(column['name'] | string | lower) -%}
        {%- if spark_cdc._meta_of(column).get('role') != 'control' -%}{%- do stored.append(column['name'] | string | lower) -%}{%- endif -%}
    {%- endfor -%}
    {%- do problems.extend(spark_cdc._name_list_problems('dropped', settings.get('dropped'))) -%}
    {%- for name in spark_cdc._names(settings.get('dropped')) if name | lower in stored -%}
        {%- do problems.append("dropped names '" ~ name ~ "', which is declared as a column: remove one of them") -%}
    {%- endfor -%}
    {%- set taken = {} -%}
    {%- for column in columns -%}
        {%- set label = "column '" ~ column['name'] ~ "'" -%}
        {%- set meta = spark_cdc._meta_of(column) -%}
        {%- do problems.extend(spark_cdc._name_list_problems(label ~ ': was', meta.get('was'))) -%}
        {%- for name in spark_cdc._names(meta.get('was')) -%}
            {%- if name | lower in declared -%}
                {%- do problems.append(label ~ " was '" ~ name ~ "', which is declared as a column: once a load has brought the new name, remove "
                    ~ "`was`; to exchange names, rename in two steps, with a load in between") -%}
            {%- elif name | lower in taken -%}
                {%- do problems.append(label ~ " and column '" ~ taken[name | lower] ~ "' both were '" ~ name ~ "': correct `was` of one of them") -%}
            {%- elif name | lower in spark_cdc._names(settings.get('dropped')) | map('lower') | list -%}
                {%- do problems.append(label ~ " was '" ~ name ~ "', which is named as dropped: remove one of them") -%}
            {%- endif -%}
            {%- do taken.update({name | lower: column['name']}) -%}
        {%- endfor -%}
        {%- set default = meta.get('default') -%}
        {%- set data_type = (column.get('data_type') or '') | string | trim | lower -%}
        {%- if default is not none and default is not string and default is not number and default is not boolean -%}
            {%- do problems.append(label ~ ": default is " ~ default ~ "; accepted are texts, numbers, true and false (a date between quotes): correct it") -%}
        {%- elif default is not none and modules.re.match('array|struct|map|binary', data_type) -%}
            {%- do problems.append(label ~ " has a default, but the type " ~ data_type ~ ", which takes none: remove it") -%}
        {%- endif -%}
        {%- do problems.extend(spark_cdc._choice_problems(label ~ ': on_misfit', meta.get('on_misfit', 'error'), ['error', 'null'])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- One name, or a list of names. -#}
{%- macro _name_list_problems(label, given) -%}
    {%- set listed = [given] if given is string else given if given is not none else [] -%}
    {%- if listed is mapping or listed is not iterable or listed | reject('string') | list -%}
        {{ return([label ~ ' is ' ~ given ~ '; accepted are a name and a list of names: correct it']) }}
    {%- endif -%}
    {{ return([]) }}
{%- endmacro -%}


{#- spark_cdc_rekey names entities of the run. -#}
{%- macro _rekey_problems(names) -%}
    {%- set rekey = var('spark_cdc_rekey', []) or [] -%}
    {%- set problems = [] -%}
    {%- for name in ([rekey] if rekey is string else rekey) if name not in names -%}
        {%- do problems.append(
            "spark_cdc_rekey names '" ~ name ~ "', which is no entity of this run (" ~ names | join(', ')
            ~ "). Name entities that are loaded, or leave the var out."
        ) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
