{#- Whether a path of the YAML is relative: neither from the root of a file system, nor with a
    scheme, such as s3a:. -#}
{%- macro _is_relative_path(path) -%}
    {%- set scheme = path.split(':')[0] if ':' in path else '' -%}
    {{ return(path != '' and path[:1] != '/' and not (scheme and spark_cdc._has_only(scheme, '+-.'))) }}
{%- endmacro -%}


{#- The folder of the project that dbt runs, as dbt was given it; an empty text outside of dbt. -#}
{%- macro _project_folder() -%}
    {{ return(((invocation_args_dict if invocation_args_dict is mapping else {}).get('project_dir') or '') | string) }}
{%- endmacro -%}


{#- A path of the YAML as the server gets it: a relative one starts in the project's folder, not in
    the working directory of the server, which another project may have started. -#}
{%- macro _path_as_read(path) -%}
    {%- set folder = spark_cdc._project_folder() -%}
    {%- if folder[:1] != '/' or not spark_cdc._is_relative_path(path) -%}{{ return(path) }}{%- endif -%}
    {{ return(folder.rstrip('/') ~ '/' ~ path.removeprefix('./')) }}
{%- endmacro -%}


{#- Where a relative path starts, for messages; an empty text for another path. -#}
{%- macro _relative_path_text(path) -%}
    {{ return("; a relative path starts in the project's folder, " ~ spark_cdc._project_folder() ~ ', and a server that does not see it needs a path of its own'
        if spark_cdc._is_relative_path(path) else '') }}
{%- endmacro -%}


{#- Why a relative path can't be read: the server is on another machine, which need not have the
    project's folder, or dbt does not tell the folder. Returns a list of texts. -#}
{%- macro _relative_path_problems(path) -%}
    {%- set given = invocation_args_dict if invocation_args_dict is mapping else {} -%}
    {#- not in dbt, as for `spark-cdc new` -#}
    {%- if not given or not spark_cdc._is_relative_path(path) -%}{{ return([]) }}{%- endif -%}
    {%- set folder = spark_cdc._project_folder() -%}
    {%- set host = ((target if target is mapping else {}).get('host') or '') | string -%}
    {#- with the method session Spark runs in dbt's own process -#}
    {%- set is_here = host | lower in ['', 'na', 'localhost', '0.0.0.0', '::1', '[::1]'] or host.startswith('127.') -%}
    {{ return(spark_cdc._failed_rules({'path': path, 'folder': folder, 'host': host, 'characters': folder | select('in', '*?[]{}\\') | unique | join(' ')}, [
        (not is_here,
         "source.path is '%(path)s', a relative path, which starts in the project's folder, %(folder)s, but the Spark server is on another machine, "
         '%(host)s: write an absolute path of that machine, such as /data/landing/{business_date}, or one of a store, such as s3a://lake/landing/{business_date}'),
        (is_here and folder[:1] != '/',
         "source.path is '%(path)s', a relative path, which starts in the project's folder, and dbt was given that folder as '%(folder)s': run dbt in the "
         'folder without --project-dir (DBT_PROJECT_DIR), or give it there from the root, such as --project-dir "$PWD"'),
        (is_here and folder | select('in', '*?[]{}\\') | list,
         "source.path is '%(path)s', a relative path, which starts in the project's folder, %(folder)s, whose name has %(characters)s, a pattern to Spark: "
         'give the folder another name, or write the path of a landing elsewhere'),
    ])) }}
{%- endmacro -%}
