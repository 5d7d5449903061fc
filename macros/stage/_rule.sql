{#- Which rules a row breaks, as a number with a bit for each, in their order; 0 where none is judged. A condition that is null is not broken, as in a
    CHECK of SQL. Arguments: rules (of _rules()), applies (condition: whether the row is one to be judged). -#}
{%- macro _rule_bits(rules, applies) -%}
if(
    {{ applies }},
    {%- for rule in rules %}
    {{ '| ' if not loop.first }}if(coalesce(({{ rule.condition }}), true), 0L, {{ 2 ** loop.index0 }}L){{ ',' if loop.last }}
    {%- endfor %}
    0L
)
{%- endmacro -%}


{#- The bits of the rules with one of some actions, as a number. -#}
{%- macro _rule_mask(rules, actions) -%}
    {%- set at = namespace(mask=0) -%}
    {%- for rule in rules if rule.action in actions -%}
        {%- set at.mask = at.mask + 2 ** (rules.index(rule)) -%}
    {%- endfor -%}
    {{ return(at.mask) }}
{%- endmacro -%}


{#- Whether a row breaks a rule with one of some actions, as SQL; nothing where there is no such rule. -#}
{%- macro _rule_is_broken(rules, actions, bits='rule_bits') -%}
{%- set mask = spark_cdc._rule_mask(rules, actions) -%}
{{ bits ~ ' & ' ~ mask ~ 'L <> 0' if mask }}
{%- endmacro -%}


{#- The names of the rules that a row breaks, as an array in SQL. -#}
{%- macro _rule_names(rules, bits='rule_bits') -%}
array_compact(array(
    {%- for rule in rules %}
    if({{ bits }} & {{ 2 ** loop.index0 }}L <> 0, {{ spark_cdc._literal(rule.name) }}, null){{ ',' if not loop.last }}
    {%- endfor %}
))
{%- endmacro -%}


{#- What the note on a row that is set aside says of its rules: names, and reasons in words. -#}
{%- macro _rule_reasons(rules, bits='rule_bits') -%}
    {%- set reasons = [] -%}
    {%- for rule in rules if rule.action != 'warn' -%}
        {%- set what = 'the rule ' ~ rule.name ~ ' is broken: ' ~ rule.condition -%}
        {%- do reasons.append('if(' ~ bits ~ ' & ' ~ 2 ** rules.index(rule) ~ 'L <> 0, ' ~ spark_cdc._literal(what) ~ ', null)') -%}
    {%- endfor -%}
    {{ return(reasons) }}
{%- endmacro -%}


{#- The note of a staged row as the ledger has it: why it is rejected, or the rules that warn of it. -#}
{%- macro _rule_noted(entity) -%}
{{ 'coalesce(note, broken_rules) as note' if spark_cdc._rule_mask(entity.rules, ['warn']) else 'note' }}
{%- endmacro -%}


{#- What warnings are noted as on a row that counts: the names of the rules it breaks, with commas between; null where it breaks none. -#}
{%- macro _rule_warnings(rules, bits='rule_bits') -%}
if(
    {{ bits }} = 0,
    null,
    concat_ws(
        ',',
        {%- for rule in rules %}
        if({{ bits }} & {{ 2 ** loop.index0 }}L <> 0, {{ spark_cdc._literal(rule.name) }}, null){{ ',' if not loop.last }}
        {%- endfor %}
    )
)
{%- endmacro -%}
