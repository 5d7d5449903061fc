{#- Options of a reader for some of an entity's files, as a pattern that stands for just these. Folders that are named column=value stay columns. -#}
{%- macro _path_options(entity, time, paths) -%}
    {%- set folder = namespace(path=paths[0].rsplit('/', 1)[0] ~ '/') -%}
    {%- for path in paths -%}
        {%- for step in folder.path.split('/') if not path.startswith(folder.path) -%}
            {%- set folder.path = folder.path.rstrip('/').rsplit('/', 1)[0] ~ '/' -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set names = [] -%}
    {%- for path in paths -%}{%- do names.append(spark_cdc._as_pattern(path[folder.path | length:])) -%}{%- endfor -%}
    {%- set options = {'path': spark_cdc._as_pattern(folder.path) ~ '{' ~ names | join(',') ~ '}'} -%}
    {%- set root = spark_cdc._landing_path(entity, time) -%}
    {%- do options.update({'basePath': root}) if '=' in names | join and not modules.re.search('[*?{[]', root) -%}
    {{ return(options) }}
{%- endmacro -%}


{#- A path as a pattern that stands for nothing but itself. -#}
{%- macro _as_pattern(path) -%}{{ return(modules.re.sub('([\\\\{}\\[\\]*?,])', '\\\\\\1', path)) }}{%- endmacro -%}
