{%- macro _load_summary(load, audit) -%}
    {{ return(
        load.entity ~ ' ' ~ load.business_time ~ ': ' ~ audit.rows_in ~ ' rows in, I ' ~ audit.counts.I ~ ', U ' ~ audit.counts.U
        ~ ', D ' ~ audit.counts.D ~ ', N ' ~ audit.counts.N ~ ', X ' ~ audit.counts.X
        ~ (', rejected ' ~ audit.counts.R ~ ' (see ' ~ load.entity ~ '_rejects)' if audit.counts.R else '')
        ~ spark_cdc._event_counts(audit.record) ~ '; ' ~ audit.rows_current
        ~ ' rows now; load ' ~ load.load_id ~ (' replaces ' ~ load.replaced | join(', ') if load.replaced else '')
        ~ ('; definition changed: ' ~ audit.record.definition_change if audit.record.get('definition_change') else '')
    ) }}
{%- endmacro -%}


{#- Events that changed nothing, in words: nothing where there are none. -#}
{%- macro _event_counts(record) -%}
    {%- set texts = [] -%}
    {%- for name, label in [('late', 'late or repeated'), ('controls', 'control'), ('unexpected', 'with columns that are ignored')]
            if record.get('events') and record.events[name] -%}
        {%- do texts.append(', ' ~ record.events[name] ~ ' ' ~ label) -%}
    {%- endfor -%}
    {{ return(texts | join('')) }}
{%- endmacro -%}
