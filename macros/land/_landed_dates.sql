{#- Several dates that have landed, as one relation. Dates that are read alike share a view, so that Spark reads their files in one go, and tells by a
    file's name which date a row is of. Rows that came alike on several dates are one row, before anything is cast or hashed: of snapshots that is most of
    what they hold. Where a column can't be grouped by, each row stays for itself.
    Arguments: entity, landing (of a table), days (a list of dictionaries: time, day (the bit that stands for the date), files (of _land_load()), found
    (of _found_columns())). Returns the name of the columns of a landed view with backfill__days, as a query between brackets. -#}
{%- macro _landed_dates_sql(entity, landing, days) -%}
    {%- set columns = entity.columns | map(attribute='from') | list + ['landing_problem'] -%}
    {%- set read = spark_cdc._date_column_found(entity, landing) if entity.source.format == 'table' else entity -%}
    {%- set views = spark_cdc._dates_views(read, landing, days) -%}
    {%- if not views -%}
        {%- do spark_cdc._send(spark_cdc._no_rows_view_sql(entity)) -%}
    {%- endif -%}
    {%- set names = [] -%}
    {%- for name in columns -%}{%- do names.append(spark_cdc._quote(name)) -%}{%- endfor -%}
    {%- set is_grouped = entity.source.text or not modules.re.search('map|variant', entity.columns | map(attribute='data_type') | join) -%}
    {%- set sql -%}
(
    select
        {{ names | join(',\n        ') }},
        {{ 'bit_or(backfill__day)' if is_grouped else 'backfill__day' }} as backfill__days
    from (
        {{ (spark_cdc._dated_rows_sql(names, views) if views
            else 'select *, 0L as backfill__day from ' ~ spark_cdc._landed_view(entity)) | indent(8) }}
    ) as dated
    {%- if is_grouped %}
    group by {{ names | join(', ') }}
    {%- endif %}
)
    {%- endset -%}
    {{ return({'sql': sql, 'views': views}) }}
{%- endmacro -%}


{#- How many rows came in on each of these dates: rows {day, row_count}. -#}
{%- macro _landed_dates_counts(views) -%}
    {%- set sql -%}
select
    backfill__day as day,
    count(*) as row_count
from (
    {{ spark_cdc._dated_rows_sql([], views) | indent(4) }}
) as dated
group by backfill__day
    {%- endset -%}
    {%- set counts = {} -%}
    {%- for row in (spark_cdc._query(sql) if views else []) -%}{%- do counts.update({row.day | int: row.row_count | int}) -%}{%- endfor -%}
    {{ return(counts) }}
{%- endmacro -%}


{#- The rows of the views with the day that each is of; none is lost of a file that came meanwhile, which is noticed later. -#}
{%- macro _dated_rows_sql(names, views) -%}
{%- for view in views %}
select /*+ broadcast(places) */
    {%- for name in names %}
    rows_of_dates.{{ name }},
    {%- endfor %}
    coalesce(places.backfill__day, 0L) as backfill__day
from (
    select {{ '*, ' if names }}{{ view.place_sql }} as backfill__place
    from {{ view.name }}
) as rows_of_dates
left join (
    select *
    from values
        {%- for place, day in view.places.items() %}
        ({{ place }}, {{ day }}L){{ ',' if not loop.last }}
        {%- endfor %}
        as places (backfill__place, backfill__day)
) as places
    on rows_of_dates.backfill__place = places.backfill__place
{%- if not loop.last %}

union all
{% endif %}
{%- endfor %}
{%- endmacro -%}


{#- Makes the views. Dates are read alike if they have the same columns, in the same order. A path with a pattern, and one that has folders
    named column=value below it, is a view of its own. Returns a list of dictionaries: name, place_sql (what tells a row's date, as SQL), places (its values to
    days). -#}
{%- macro _dates_views(entity, landing, days) -%}
    {%- set is_table = entity.source.format == 'table' -%}
    {%- set groups = {} -%}
    {%- for one in days if is_table or one.files.files -%}
        {%- set path = '' if is_table else spark_cdc._landing_path(entity, one.time).rstrip('/') -%}
        {%- set is_apart = not is_table and (
            modules.re.search('[*?{}\\[\\],\\\\]', path) or one.files.paths | join('\n') | length > 0 and
            modules.re.search('=[^/]*/', (one.files.paths | join('\n')).replace(path.rsplit(':', 1)[-1].lstrip('/'), ''))) -%}
        {#- of typed files a merged schema says of each file what the columns of all are -#}
        {%- set several = entity.source.format not in ['csv', 'json', 'table'] and one.files.files > 1 -%}
        {%- set group = groups.setdefault(tojson([one.found, several, path if is_apart else '']), {
            'found': one.found, 'several': several, 'days': [], 'paths': []}) -%}
        {%- do group.days.append(one) -%}
        {%- do group.paths.append(path) -%}
    {%- endfor -%}
    {%- set views = [] -%}
    {%- for group in groups.values() -%}
        {%- set time = group.days[0].time -%}
        {%- set all = dict(
            spark_cdc._entity_of_dates(entity, spark_cdc._braced_dates(group.paths)), name=entity.name ~ '_backfill_' ~ loop.index) -%}
        {%- for view in spark_cdc._line_ends(all, time).parts -%}
            {%- if is_table -%}
                {%- do spark_cdc._send(spark_cdc._table_dates_view_sql(view, landing, group.days)) -%}
            {%- else -%}
                {%- do spark_cdc._send(spark_cdc._files_view_sql(view, landing, time, {'mergeSchema': 'true'} if group.several else {})) -%}
            {%- endif -%}
            {%- do spark_cdc._land_columns(view, time, group.found) -%}
            {%- set places = {} -%}
            {%- if is_table -%}
                {%- for one in group.days -%}{%- do places.update({spark_cdc._literal(spark_cdc._time_text(entity, one.time)): one.day}) -%}{%- endfor -%}
            {%- else -%}
                {%- set by_path = {} -%}
                {%- for one in group.days -%}
                    {%- for found in one.files.paths -%}{%- do by_path.update({found: one.day}) -%}{%- endfor -%}
                {%- endfor -%}
                {%- for row in spark_cdc._query('select path, input_file_name() as place from ' ~ spark_cdc._direct_sql(view, time, 'binaryFile')) -%}
                    {%- do places.update({spark_cdc._literal(row.place): by_path.get(row.path, 0)}) -%}
                {%- endfor -%}
            {%- endif -%}
            {%- do views.append({
                'name': spark_cdc._landed_view(view),
                'place_sql': spark_cdc._date_column_text(entity) if is_table else 'input_file_name()',
                'places': places,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(views) }}
{%- endmacro -%}


{%- macro _table_dates_view_sql(entity, landing, days) -%}
create or replace temporary view {{ spark_cdc._files_view(entity) }} as
select *
from {{ landing }}
where {{ spark_cdc._date_column_condition(entity, days | map(attribute='time') | list) }}
{%- endmacro -%}
