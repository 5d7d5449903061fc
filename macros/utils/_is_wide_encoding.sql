{#- Whether text in an encoding has other bytes for a line break than ASCII, or these bytes within other characters: UTF-16, UTF-32 and EBCDIC. -#}
{%- macro _is_wide_encoding(name) -%}
    {%- set plain = name | string | lower | replace('-', '') | replace('_', '') | replace(' ', '') -%}
    {%- for part in ['utf16', 'utf32', 'ucs2', 'ucs4', 'unicode', 'ebcdic'] if part in plain -%}{{ return(true) }}{%- endfor -%}
    {%- set page = plain.removeprefix('x').removeprefix('ibm').removeprefix('cp').lstrip('0') -%}
    {{ return(page in ['37', '273', '277', '278', '280', '284', '285', '297', '500', '870', '871', '1026', '1047', '1140', '1141', '1142', '1143',
                       '1144', '1145', '1146', '1147', '1148', '1149']) }}
{%- endmacro -%}
