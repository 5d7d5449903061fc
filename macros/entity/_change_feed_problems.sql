{#- What is wrong with the settings of an entity that reads the change feed of a table, or with those of such a feed elsewhere. Returns a list of texts. -#}
{%- macro _change_feed_problems(settings) -%}
    {%- set source = settings.get('source') if settings.get('source') is mapping else {} -%}
    {%- set sources = settings.get('sources') if settings.get('sources') is mapping else {} -%}
    {%- set events = settings.get('events') if settings.get('events') is mapping else {} -%}
    {%- set format, formats = events.get('format'), spark_cdc._change_feed_formats() -%}
    {%- set problems = [] -%}
    {%- for label, place in [('source', source), ('sources.full', sources.get('full')), ('sources.delta', sources.get('delta'))] if place is mapping -%}
        {%- for name in ['table', 'net_changes'] if place.get(name) and place.get('format') != 'change_feed' -%}
            {%- do problems.append(label ~ '.' ~ name ~ ' is given, but ' ~ label ~ ".format is '" ~ place.get('format', 'csv')
                ~ "': set it to change_feed to read the change feed of a Delta or Iceberg table, or remove " ~ name) -%}
        {%- endfor -%}
        {%- if label != 'source' and place.get('format') == 'change_feed' -%}
            {%- do problems.append(label ~ '.format is change_feed, which is for `source` only: a full snapshot of such an entity is read from its table without '
                'sources (docs/source_feeds.md); remove it') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if source.get('format') != 'change_feed' -%}{{ return(problems) }}{%- endif -%}
    {%- for name in ['path', 'date_column', 'options', 'text', 'on_no_files'] if source.get(name) -%}
        {%- do problems.append('source.' ~ name ~ ' is given, but source.format is change_feed, whose table is all that is read: remove it') -%}
    {%- endfor -%}
    {{ return(problems + spark_cdc._broken({'type': settings.get('load_type'), 'format': format, 'formats': formats | join(', ')}, [
        (settings.get('load_type') in ['full', 'delta'],
         'source.format is change_feed, but load_type is %(type)s: set load_type: events and events.format, one of %(formats)s'),
        (settings.get('load_type') == 'events' and format and format not in formats,
         "source.format is change_feed, but events.format is '%(format)s', of which no table has a feed; accepted are %(formats)s: choose that of the table"),
        (sources, 'sources is given, but source.format is change_feed, and full snapshots are read from the same table: remove it'),
        (settings.get('expect'), 'expect is given, but source.format is change_feed, which has no dates of its own that could be missing: remove it'),
        (source.get('net_changes') and format == 'delta_cdf',
         'source.net_changes is given, which the format %(format)s does not know: remove it'),
        (events.get('order') and format == 'iceberg_changelog',
         'events.order is given, but source.format is change_feed, where a snapshot follows on the last one that was read: remove it'),
    ])) }}
{%- endmacro -%}
