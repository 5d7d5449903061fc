{#- The first loads of a list: those that make up the state after one of them, or at the end of a date. Loads that compact squashed come
    and go together. Arguments: capture, loads (oldest first), to (load, or date as text or as YAML reads it; none for all but the last; an empty
    text for none of them). Returns a dictionary: loads, problem (why there is no such state, a text, or none). -#}
{%- macro _loads_up_to(capture, loads, to) -%}
    {%- set entity, text = capture.entity, to | string | trim -%}
    {%- set is_load = modules.re.fullmatch('[0-9]{8}(?:T[0-9]{6})?-[a-z]+-[0-9a-f]{8}', text) -%}
    {%- set time = spark_cdc._business_time(text) -%}
    {%- if to is none -%}
        {%- set kept = loads[:-1] -%}
    {%- elif not text -%}
        {%- set kept = [] -%}
    {%- elif is_load and text in loads -%}
        {%- set kept = loads[:loads.index(text) + (2 if spark_cdc._load_kind(text).is_history else 1)] -%}
    {%- elif is_load or time is none -%}
        {%- set problem -%}
{{ entity.name }}: '{{ text }}' is {{ 'no load that counts' if is_load else 'no load and no date that exists' }}. Accepted are loads {# -#}
of the view {{ entity.name }}_committed ({{ loads[-3:] | join(', ') }}) and dates such as {{ spark_cdc._load_time_text(entity, loads[-1]) }}.
        {%- endset -%}
        {{ return({'loads': [], 'problem': problem}) }}
    {%- else -%}
        {#- a date without a time of day means all of that day -#}
        {%- set end = time + modules.datetime.timedelta(days=1) if text | length == 10 else time + modules.datetime.timedelta(seconds=1) -%}
        {%- set kept = spark_cdc._loads_with(loads, 'time', 'lt', end) -%}
    {%- endif -%}
    {%- set cut = loads[kept | length:][:1] -%}
    {%- set is_cut = cut and spark_cdc._load_kind(cut[0]).is_squashed -%}
    {%- if is_cut -%}
        {%- set squashed = kept[-1] if not spark_cdc._load_kind(cut[0]).is_history else cut[0] -%}
        {%- set first = spark_cdc._loads_by_date(capture.masked, [squashed])[0] -%}
        {%- if squashed in kept or (end is defined and spark_cdc._load_time(first) < end) -%}
            {%- set problem -%}
{{ entity.name }}: compact has squashed the loads from {{ spark_cdc._load_time_text(entity, first) }} to {# -#}
{{ spark_cdc._load_time_text(entity, squashed) }} into one: there is no state {{ 'at ' ~ text if text and to is not none else 'before the last of them' }}. {# -#}
Accepted are dates before the first of them, and from the last one on.
            {%- endset -%}
            {{ return({'loads': [], 'problem': problem}) }}
        {%- endif -%}
    {%- endif -%}
    {{ return({'loads': kept, 'problem': none}) }}
{%- endmacro -%}
