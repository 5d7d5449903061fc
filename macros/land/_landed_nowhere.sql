{#- Why an entity without any business date in its landing is not just idle: the folder is not there, so the server looks elsewhere, or nothing ever came. An empty
    prefix of an object store is no folder that could be there. Arguments: entity, last (time of the last committed load, or none). Returns a text, or none. -#}
{%- macro _landed_nowhere(entity, last) -%}
    {%- set source = entity.source -%}
    {%- if source.format == 'change_feed' -%}
        {{ return(none) }}
    {%- elif source.format == 'table' -%}
        {{ return(none if last is not none else 'no load is committed, and the table ' ~ spark_cdc._landing_source(entity) ~ ' has no business date in its column '
            ~ source.date_column ~ '. Deliver rows, or correct source.date_column') }}
    {%- endif -%}
    {%- set fixed = namespace(path=source.path.split('{business_date')[0]) -%}
    {%- for wildcard in '*?[{' -%}{%- set fixed.path = fixed.path.split(wildcard)[0] -%}{%- endfor -%}
    {%- set folder = fixed.path.rpartition('/')[0] -%}
    {%- set scheme, _, rest = folder.rpartition('://') -%}
    {%- set is_folder = folder and (not scheme or '/' in rest) -%}
    {%- set has_folders = scheme in ['', 'file', 'hdfs', 'viewfs', 'dbfs'] -%}
    {#- of a path that is not there Spark says where it looked -#}
    {%- set missing = spark_cdc._landed_nowhere_path(folder) if is_folder and (has_folders or last is none) else none -%}
    {%- if missing is none and (last is not none or source.stream is mapping) -%}{{ return(none) }}{%- endif -%}
    {%- set below = spark_cdc._landed_nowhere_path(folder ~ '/no_such_folder') if missing is none and is_folder else none -%}
    {%- set seen = below.removesuffix('/no_such_folder') if below else folder or source.path -%}
    {{ return(
        ('the folder ' ~ missing ~ ' does not exist on the Spark server' if missing else 'no load is committed, and no business date has landed in ' ~ seen)
        ~ ' (source.path is ' ~ source.path ~ ('; a relative path begins in the working directory of the server' if has_folders and source.path[:1] != '/'
            and not scheme and ':' not in folder) ~ '). Deliver files there, or correct source.path'
    ) }}
{%- endmacro -%}


{#- The path, as Spark has it, at which nothing lies; none, if something does. -#}
{%- macro _landed_nowhere_path(path) -%}
    {%- set plan = spark_cdc._plan('select 1 from text.`' ~ path.replace('`', '``') ~ '`') -%}
    {{ return((spark_cdc._plan_missing_path(plan) or path) if spark_cdc._plan_lacks_path(plan) else none) }}
{%- endmacro -%}
