{#- What is wrong with `source.stream`, by which spark-cdc stream fills the landing of an entity. Returns a list of texts. -#}
{%- macro _stream_problems(settings) -%}
    {%- set source = settings.get('source') if settings.get('source') is mapping else {} -%}
    {%- set sources = settings.get('sources') if settings.get('sources') is mapping else {} -%}
    {%- set problems = [] -%}
    {%- for type, other in sources.items() if other is mapping and other.get('stream') is not none and 'stream' in other -%}
        {%- do problems.append('sources.' ~ type ~ '.stream is given, but only change events are streamed, into source: remove it') -%}
    {%- endfor -%}
    {%- set stream = source.get('stream') -%}
    {%- if stream is not mapping -%}{{ return(problems) }}{%- endif -%}
    {%- set events = settings.get('events') if settings.get('events') is mapping else {} -%}
    {%- set given = ['topic', 'pattern', 'files'] | select('in', stream) | list -%}
    {%- set path = (source.get('path') or '') | string -%}
    {%- set fixed = modules.re.sub('[{]business_date(:[^{}]*)?[}]', '', path) -%}
    {{ return(problems + spark_cdc._broken({
        'type': settings.get('load_type'), 'format': source.get('format', 'csv'), 'events': events.get('format'), 'path': path, 'given': given | join(', '),
    }, [
        (settings.get('load_type') in ['full', 'delta'],
         'source.stream is given, but load_type is %(type)s: messages are change events; set load_type: events, or remove stream'),
        (events.get('format') and spark_cdc._adapter(events.format) and not spark_cdc._is_message_format(events.format),
         'source.stream is given, but events of the format %(events)s are rows with columns of their own, not messages: choose another format, or '
         'remove stream'),
        (source.get('format', 'csv') != 'parquet', "source.stream is given, but source.format is '%(format)s': what is streamed lands as parquet"),
        (given | length > 1, 'source.stream has %(given)s; accepted is one of them: remove the others'),
        (modules.re.search('[*?{}]|\\[', fixed) or '/' not in path.split('{business_date')[0],
         "source.path is '%(path)s'; for source.stream accepted is one folder of each business date, below one of the entity's own, such as "
         'landing/orders/{business_date}'),
    ])) }}
{%- endmacro -%}
