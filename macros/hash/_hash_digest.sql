{#- md5 of a message, or its HMAC-MD5 (RFC 2104). The keys are read by a scalar subquery while the statement runs, which Spark does once for all of
    a query, so that they stand in no SQL, plan or log. It may not stand in a lambda or in the condition of a join, where Spark does not take it.
    Arguments: message (a text expression, never null), secret (table with the struct keys: inner_key, outer_key; or none). Returns an expression of
    type binary, 16 bytes. -#}
{%- macro _hash_digest(message, secret=none) -%}
    {%- if secret is none -%}{{ return('unhex(md5(' ~ message ~ '))') }}{%- endif -%}
unhex(md5(concat(
    (select keys from {{ secret }}).outer_key,
    unhex(md5(concat((select keys from {{ secret }}).inner_key, cast({{ message | indent(4) }} as binary))))
)))
{%- endmacro -%}
