{#- What happened, from a column that holds a code for it. The code '' stands for nothing: null or an empty text.
    Arguments: sql (the column, of any type), codes (mapping of code to operation). Returns an expression: the operation,
    or null where the code is unknown. -#}
{%- macro _coded_operation(sql, codes) -%}
    {%- set cases = [] -%}
    {%- for code in codes -%}
        {%- do cases.append('when ' ~ spark_cdc._literal(spark_cdc._code_text(code)) ~ ' then ' ~ spark_cdc._literal(codes[code])) -%}
    {%- endfor -%}
    {{ return("case coalesce(cast(" ~ sql ~ " as string), '')\n    " ~ cases | join('\n    ') ~ '\nend') }}
{%- endmacro -%}


{#- What is wrong with a code, in words; null if nothing is. -#}
{%- macro _coded_problem(name, sql, codes) -%}
    {%- set literals = [] -%}
    {%- set accepted = [] -%}
    {%- for code in codes -%}
        {%- do literals.append(spark_cdc._literal(spark_cdc._code_text(code))) -%}
        {%- do accepted.append(spark_cdc._code_text(code) or 'nothing') -%}
    {%- endfor -%}
    {{ return("if(\n    coalesce(cast(" ~ sql ~ " as string), '') in (" ~ literals | join(', ') ~ '), null,\n    concat('
        ~ "'unknown operation ', coalesce(" ~ spark_cdc._shown(sql) ~ ", 'null'), "
        ~ spark_cdc._literal(' in ' ~ name ~ '; accepted are ' ~ accepted | join(', ')) ~ ')\n)') }}
{%- endmacro -%}


{#- A code as text: YAML may have read 1 as a number and true as a boolean. -#}
{%- macro _code_text(code) -%}
    {{ return(code | string | lower if code is boolean else code | string) }}
{%- endmacro -%}
