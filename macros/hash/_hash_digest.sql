{#- md5 of a message, or its HMAC-MD5 (RFC 2104). The keys are read by scalar subqueries while the statement runs, which Spark does once for all of
    a query, so that they stand in no SQL, plan or log. Arguments: message (a text expression, never null), secret (table with inner_key and outer_key,
    or none). Returns an expression of type binary, 16 bytes. -#}
{%- macro _hash_digest(message, secret=none) -%}
    {%- if secret is none -%}{{ return('unhex(md5(' ~ message ~ '))') }}{%- endif -%}
unhex(md5(concat(
    (select outer_key from {{ secret }}),
    unhex(md5(concat((select inner_key from {{ secret }}), cast({{ message }} as binary))))
)))
{%- endmacro -%}
