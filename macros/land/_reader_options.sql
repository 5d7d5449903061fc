{#- Reader options as SQL, a list of lines: what the entity says, and what the project needs. Spark tells "" (empty text) from nothing
    (null) in CSV only with a null text that is not empty. -#}
{%- macro _reader_options(entity, time, more={}) -%}
    {%- set given = entity.source.options -%}
    {#- a file that is damaged or gone stops the load, whatever the cluster says -#}
    {%- set options = {'path': spark_cdc._landing_path(entity, time), 'ignoreCorruptFiles': 'false', 'ignoreMissingFiles': 'false'} -%}
    {%- for option, value in {'header': 'true', 'nullValue': '\\N'}.items() if entity.source.format == 'csv' -%}
        {%- do options.update({} if option | lower in given | map('lower') else {option: value}) -%}
    {%- endfor -%}
    {%- if entity.source.format == 'parquet' -%}{%- do options.update({'parquet.page.verify-checksum.enabled': 'true'}) -%}{%- endif -%}
    {%- do options.update(given) -%}
    {%- do options.update(more) -%}
    {%- set lines = [] -%}
    {%- for option, value in options.items() -%}
        {%- do lines.append('`' ~ option ~ '` ' ~ spark_cdc._reader_option_literal(option, value)) -%}
    {%- endfor -%}
    {{ return(lines) }}
{%- endmacro -%}


{#- The value of an option as SQL. In lineSep a backslash before n or r is the character, since dbt drops line breaks at the end of a text. -#}
{%- macro _reader_option_literal(option, value) -%}
    {%- set text = value | string | lower if value is boolean else value | string -%}
    {{ return(spark_cdc._literal(text.replace('\\n', '\n').replace('\\r', '\r') if option | lower == 'linesep' else text)) }}
{%- endmacro -%}


{#- What the entity says of a reader's option. Arguments: entity, names (in lower case: some options have two), default. -#}
{%- macro _reader_option(entity, names, default) -%}
    {%- for option, value in entity.source.options.items() if option | lower in names -%}
        {{ return(value) }}
    {%- endfor -%}
    {{ return(default) }}
{%- endmacro -%}
