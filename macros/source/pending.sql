{#- Several dates that have landed, as one relation. Dates that are read alike share a view, so that
    Spark reads their files in one go, and tells by a file's name which date a row is of. Rows that
    came alike on several dates are one row, before anything is cast or hashed: of snapshots that is
    most of what they hold. Where a column can't be grouped by, or equal rows count, each row stays
    for itself.
    Arguments: entity, landing (of a table), days (a list of dictionaries: time, day (the bit that
    stands for the date), files (of _land_load()), found (of _found_columns())). Returns a
    dictionary: sql (the columns of a landed view with cdc__days, as a query between brackets),
    views (of _dates_views()). -#}
{%- macro _landed_dates_sql(entity, landing, days) -%}
    {%- set views = spark_cdc._dates_views(spark_cdc._date_column_found(entity, landing) if entity.source.facts.reads == 'table'
            else entity, landing, days) -%}
    {%- if not views -%}{%- do spark_cdc._send(spark_cdc._no_rows_view_sql(entity)) -%}{%- endif -%}
    {%- set names = spark_cdc._landed_names(entity) -%}
    {%- set types = entity.columns | map(attribute='data_type') | join -%}
    {%- set is_grouped = not entity.keyless and (entity.source.text or ('map' not in types and 'variant' not in types)) -%}
    {%- set sql -%}
(
    select
        {{ names | join(',\n        ') }},
        {{ 'bit_or(cdc__day)' if is_grouped else 'cdc__day' }} as cdc__days
    from (
        {{ (spark_cdc._dated_rows_sql(names, views) if views
            else 'select *, 0L as cdc__day from ' ~ spark_cdc._landed_view(entity)) | indent(8) }}
    ) as dated
    {%- if is_grouped %}
    group by {{ names | join(', ') }}
    {%- endif %}
)
    {%- endset -%}
    {{ return({'sql': sql, 'views': views}) }}
{%- endmacro -%}


{#- The rows of the views with the day that each is of; none is lost of a file that came meanwhile,
    which is noticed later. -#}
{%- macro _dated_rows_sql(names, views) -%}
{%- for view in views %}
select /*+ broadcast(places) */
    {%- for name in names %}
    rows_of_dates.{{ name }},
    {%- endfor %}
    coalesce(places.cdc__day, 0L) as cdc__day
from (
    select {{ '*, ' if names }}{{ view.place_sql }} as cdc__place
    from {{ view.name }}
) as rows_of_dates
left join (
    select *
    from values
        {%- for place, day in view.places.items() %}
        ({{ spark_cdc._literal(place) }}, {{ day }}L){{ ',' if not loop.last }}
        {%- endfor %}
        as places (cdc__place, cdc__day)
) as places
    on rows_of_dates.cdc__place = places.cdc__place
{%- if not loop.last %}

union all
{% endif %}
{%- endfor %}
{%- endmacro -%}


{#- Makes the views. Dates are read alike if they have the same columns, in the same order. A path
    with a pattern, and one that has folders named column=value below it, is a view of its own;
    so is each date where rows of a view don't know their file.
    Returns a list of dictionaries: name, place_sql (what tells a row's date, as SQL), places (its
    values to days). -#}
{%- macro _dates_views(entity, landing, days) -%}
    {%- set is_table, is_told = entity.source.facts.reads == 'table', spark_cdc._platform().knows_in_views -%}
    {%- set groups, views = {}, [] -%}
    {%- for one in days if is_table or one.files.files -%}
        {%- set path = '' if is_table else spark_cdc._landing_path(entity, [one.time]).rstrip('/') -%}
        {%- set below = [] -%}
        {%- for found in (one.files.paths if not is_table else []) -%}
            {%- do below.extend(found.replace(path.rsplit(':', 1)[-1].lstrip('/'), '').split('/')[:-1]) -%}
        {%- endfor -%}
        {%- set is_apart = spark_cdc._as_pattern(path) != path or '=' in below | join or not is_told -%}
        {#- of typed files a merged schema says of each file what the columns of all are -#}
        {%- set several = not is_table and not entity.source.facts.is_text and one.files.files > 1 and not spark_cdc._has_reader_schema(entity) -%}
        {%- set group = groups.setdefault(tojson([one.found, several, path if is_apart else '']), {'several': several, 'days': []}) -%}
        {%- do group.days.append(one) -%}
    {%- endfor -%}
    {%- for group in groups.values() -%}
        {%- set times, days_of = group.days | map(attribute='time') | list, {} -%}
        {%- for one in group.days -%}
            {%- do days_of.update(dict.fromkeys([spark_cdc._time_text(entity, one.time)] if is_table else one.files.paths, one.day)) -%}
        {%- endfor -%}
        {%- set named, parts = dict(entity, name=entity.name ~ '_backfill_' ~ loop.index), [] -%}
        {%- if group.several and not entity.source.facts.merges -%}
            {%- set paths = group.days | map(attribute='files') | map(attribute='paths') | sum(start=[]) -%}
            {%- set found = group.days[0].found -%}
            {%- set folders = found | selectattr('folder', 'defined') | map(attribute='col_name') | map('lower') | list -%}
            {%- do parts.extend(spark_cdc._schema_parts(named, times, spark_cdc._file_schemas(entity, paths, found, folders))) -%}
        {%- else -%}
            {%- for part in spark_cdc._line_ends(named, times).parts -%}
                {%- do parts.append({'entity': part, 'found': group.days[0].found}) -%}
            {%- endfor -%}
        {%- endif -%}
        {%- for part in parts -%}
            {%- set view = part.entity -%}
            {%- do spark_cdc._send(spark_cdc._files_view_sql(view, landing, times, {'mergeSchema': 'true'} if group.several else {})) -%}
            {%- do spark_cdc._land_columns(view, times, part.found) -%}
            {%- set places = days_of if is_table else {} -%}
            {%- do places.update({group.days[0].day | string: group.days[0].day}) if not (is_table or is_told) -%}
            {%- for row in ([] if is_table or not is_told else spark_cdc._query(
                    'select path, ' ~ spark_cdc._file_name_sql() ~ ' as place from ' ~ spark_cdc._direct_sql(view, times, 'binaryFile'))) -%}
                {%- do places.update({row.place: days_of.get(row.path, 0)}) -%}
            {%- endfor -%}
            {%- do views.append({
                'name': spark_cdc._landed_view(view), 'places': places,
                'place_sql': spark_cdc._date_column_text(entity) if is_table
                    else spark_cdc._file_name_sql() if is_told else "'" ~ group.days[0].day ~ "'",
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(views) }}
{%- endmacro -%}


{#- Which business dates lie in the landings: of files by their paths, of tables by the distinct
    values of the date column after the last committed load, without such a column the present one,
    of change feeds, too, where the table has gone on. A folder without a file, or with hidden or
    empty ones only, is not there to Spark's readers, and so not here.
    Arguments: contexts (with timeline), since (datetime of the last committed load by entity; none
    where there is none).
    Returns a dictionary by entity: times (datetimes, in order), incomplete (texts of others, which
    wait for source.complete_when), problem (why they can't be told, or none), absent (why an entity
    without any is not just idle: of _landed_nowhere()). -#}
{%- macro _landed_times(contexts, since) -%}
    {%- set landed, files, tables, letters, deep = {}, [], [], {}, {} -%}
    {%- for ctx in contexts -%}
        {%- set entity, last = ctx.entity, since[ctx.entity.name] -%}
        {%- set due = [] -%}
        {%- if entity.source.facts.reads == 'feed' -%}
            {%- set now = spark_cdc._change_feed_adapter(entity, 'now')(spark_cdc._change_feed_table(entity)) -%}
            {%- set problem = now.get('problem') -%}
            {%- do due.extend([] if problem else spark_cdc._change_feed_due(entity, now, ctx.timeline, last)) -%}
        {%- elif entity.source.facts.reads == 'table' -%}
            {%- set landing = spark_cdc._landing_source(entity) -%}
            {%- set is_there = landing is not none and '_NOT_FOUND]' not in spark_cdc._plan('select * from ' ~ landing) -%}
            {%- set read = spark_cdc._date_column_found(entity, landing) if is_there else entity -%}
            {%- set unread = spark_cdc._date_column_problem(read) if is_there else none -%}
            {%- set problem = 'its source table ' ~ (landing or 'is not a dbt source, which')
                ~ (' can not be read: ' ~ unread if unread else ' is not there') if unread or not is_there else none -%}
            {%- if spark_cdc._reads_whole_table(entity.source) -%}
                {%- set present = spark_cdc._present_time(entity) -%}
                {%- do due.append(present) if not problem and (last is none or present > last) -%}
            {%- elif not problem -%}
                {%- do tables.append(spark_cdc._landed_times_of_table_sql(
                    read, landing, none if last is none else spark_cdc._date_column_next(read, last))) -%}
            {%- endif -%}
        {%- else -%}
            {%- set pattern = spark_cdc._landed_times_pattern(entity) -%}
            {%- set problem = pattern.problem -%}
            {%- do letters.update({entity.name: pattern.letters}) -%}
            {%- do files.append(spark_cdc._landed_times_of_files_sql(entity, pattern)) if not problem -%}
            {%- do deep.update({files[-1]: spark_cdc._landed_times_of_files_sql(entity, pattern, true)}) if not problem -%}
        {%- endif -%}
        {%- do landed.update({entity.name: {'times': due, 'problem': problem, 'is_streamed': entity.source.stream is mapping, 'markers': {}, 'absent': none}}) -%}
    {%- endfor -%}
    {%- if files -%}
        {#- many files, of which no byte is read, are no reason for many tasks -#}
        {%- do spark_cdc._set('spark.sql.files.openCostInBytes', '1') -%}
        {%- do spark_cdc._set('spark.sql.files.maxPartitionBytes', '1099511627776') -%}
        {#- what goes while it is listed, as what spark-cdc stream --retention drops, is not there;
            a load reads with its own options -#}
        {%- do spark_cdc._set('spark.sql.files.ignoreMissingFiles', 'true') -%}
    {%- endif -%}
    {#- one landing that is not there yet makes the query of all fail: then each is asked on its
        own; one whose folders column=value are not of one kind, with all that is below it -#}
    {%- set joined = files | join('\nunion all\n') -%}
    {%- set is_whole = files and not spark_cdc._plan_refusal(spark_cdc._plan(joined)) -%}
    {%- for sql in ([joined] if is_whole else files) + ([tables | join('\nunion all\n')] if tables else []) -%}
        {%- set plan = '' if is_whole or sql not in files else spark_cdc._plan(sql) -%}
        {%- if 'PATH_NOT_FOUND' not in plan -%}
            {%- for row in spark_cdc._query(deep[sql] if spark_cdc._plan_refusal(plan) else sql) -%}
                {%- set values = row.found.split('|') -%}
                {%- set time = spark_cdc._landed_times_path(letters[row.entity], values) if row.entity in letters
                        else spark_cdc._business_time(row.found) -%}
                {%- if time is not none -%}
                    {%- do landed[row.entity].times.append(time) -%}
                    {%- do landed[row.entity].markers.update({spark_cdc._time_stamp(time): values[-1]}) -%}
                {%- endif -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for ctx in contexts -%}
        {%- set last, told = since[ctx.entity.name], landed[ctx.entity.name] -%}
        {%- do told.update({'times': spark_cdc._times_sorted(told.times)}) -%}
        {%- do told.update(spark_cdc._landed_times_complete(ctx.entity, told.times, last)) -%}
        {%- do told.update(spark_cdc._landed_times_in_a_row(told.times, told.markers, last)) if told.is_streamed -%}
        {%- do told.update({'absent': spark_cdc._landed_nowhere(ctx.entity, last)}) if not told.times and not told.problem and not told.incomplete -%}
    {%- endfor -%}
    {{ return(landed) }}
{%- endmacro -%}


{#- Of the business times after the last committed one those that are complete, and the others as
    texts. -#}
{%- macro _landed_times_complete(entity, times, since) -%}
    {%- set newer, complete = [], [] -%}
    {%- for time in times if since is none or time > since -%}{%- do newer.append(time) -%}{%- endfor -%}
    {%- set incomplete = spark_cdc._incomplete_times(entity, newer) -%}
    {%- for time in times if spark_cdc._time_text(entity, time) not in incomplete -%}{%- do complete.append(time) -%}{%- endfor -%}
    {{ return({'times': complete, 'incomplete': incomplete}) }}
{%- endmacro -%}


{#- Of the business times that spark-cdc stream has closed, those before which none is missing. A
    marker names the one before: so a listing that was made while markers were set, and may have the
    second without the first, lets no load be left out.
    Arguments: times (in order), markers (_time_stamp() to name of its marker), since (the last
    committed one, or none).
    Returns a dictionary: times, problem (none, unless it is the next load that misses one). -#}
{%- macro _landed_times_in_a_row(times, markers, since) -%}
    {%- set row = namespace(times=[], missing=none) -%}
    {%- for time in times if row.missing is none -%}
        {%- set before = markers[spark_cdc._time_stamp(time)] | replace('after-', '') -%}
        {%- set previous = none if before == 'first' else modules.datetime.datetime.strptime(before, '%Y%m%dT%H%M%S') -%}
        {%- if previous is none or not spark_cdc._times_beside([previous], row.times) or (since is not none and (previous <= since or time <= since)) -%}
            {%- do row.times.append(time) -%}
        {%- else -%}
            {%- set row.missing = previous -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set is_next = row.missing is not none and (not row.times or (since is not none and row.times[-1] <= since)) -%}
    {%- set problem -%}
the business time {{ row.missing }}, which {% if row.times %}is not in the landing{% else %}comes before the first in the landing{% endif %}, was streamed and is not {# -#}
loaded: bring its folder back, or load on behind it
    {%- endset -%}
    {{ return({'times': row.times, 'problem': problem if is_next else none}) }}
{%- endmacro -%}


{#- The parts of the business times in the paths of files, with `|` between them; of what is
    streamed the markers count (see _check_closed()), and the marker's name is the last part. -#}
{%- macro _landed_times_of_files_sql(entity, pattern, is_deep=false) -%}
{%- set is_streamed = entity.source.stream is mapping -%}
{%- set options = (["recursiveFileLookup = 'true'"] if is_deep else []) + spark_cdc._direct_options(entity) -%}
{%- set regex = spark_cdc._literal(pattern.regex ~ ('.*/([^/]*)$' if is_streamed else '')) -%}
select distinct
    {{ spark_cdc._literal(entity.name) }} as entity,
    concat_ws('|'
        {%- for group in range(pattern.letters | length + (1 if is_streamed else 0)) -%}
        , regexp_extract(path, {{ regex }}, {{ loop.index }})
        {%- endfor -%}
    ) as found
from binaryFile.`{{ pattern.glob.replace('`', '``') }}{{ '/_closed/*' if is_streamed }}`{{ ' with (' ~ options | join(', ') ~ ')' if options }}
{%- endmacro -%}


{#- The business times of a table from first on, and before next. -#}
{%- macro _landed_times_of_table_sql(entity, landing, first=none, next=none) -%}
{%- set value = spark_cdc._date_column_value(entity) -%}
select distinct
    {{ spark_cdc._literal(entity.name) }} as entity,
    {{ spark_cdc._date_column_text(entity) }} as found
from {{ landing }}
where
    {{ value }} is not null
    {%- for sign, time in [('>=', first), ('<', next)] if time is not none %}
    and {{ value }} {{ sign }} {{ spark_cdc._date_column_literal(entity, time) }}
    {%- endfor %}
{%- endmacro -%}


{#- How a business date is read back from a path that _landing_path() makes.
    Returns a dictionary: glob (what finds the paths of all dates), regex (with a group for each
    part of the date), letters (that strftime has for these parts, by group), problem. -#}
{%- macro _landed_times_pattern(entity) -%}
    {%- set digits = {
        'Y': '[1-9][0-9]{3}', 'y': '[0-9]{2}', 'm': '0[1-9]|1[0-2]', 'd': '0[1-9]|[12][0-9]|3[01]', 'j': '[0-3][0-9]{2}',
        'H': '[01][0-9]|2[0-3]', 'M': '[0-5][0-9]', 'S': '[0-5][0-9]',
    } -%}
    {%- set glob, regex, letters, unknown = [], [], [], [] -%}
    {%- for part in spark_cdc._landing_path_parts(entity, entity.source.read_path.rstrip('/')) -%}
        {%- if loop.index is odd -%}
            {#- wildcards of Spark stand for something within a folder's name; the path of a file
                has neither scheme nor leading dot as it was written -#}
            {%- set single = namespace(slashes=spark_cdc._without_scheme(part) if loop.first else part) -%}
            {%- for _ in part if '//' in single.slashes -%}{%- set single.slashes = single.slashes.replace('//', '/') -%}{%- endfor -%}
            {%- do glob.append(part) -%}
            {%- do regex.append(spark_cdc._escaped_regex(spark_cdc._with_stars(single.slashes)).replace('\\*', '[^/]*')) -%}
        {%- else -%}
            {%- for piece in part.replace('%F', '%Y-%m-%d').replace('%T', '%H:%M:%S').split('%') -%}
                {%- set letter, text = ('', piece) if loop.first else (piece[:1], piece[1:]) -%}
                {%- do unknown.append('%' ~ letter) if not loop.first and letter not in digits -%}
                {%- do regex.append('(?:\\' ~ (letters.index(letter) + 1) ~ ')' if letter in letters
                    else '(' ~ digits[letter] ~ ')' if letter in digits else '') -%}
                {%- do letters.append(letter) if letter in digits and letter not in letters -%}
                {%- do regex.append(spark_cdc._escaped_regex(text)) -%}
                {%- do glob.append(('*' if letter else '') ~ text) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set is_day = ('Y' in letters or 'y' in letters) and ('j' in letters or ('m' in letters and 'd' in letters)) -%}
    {%- set problem -%}
        {%- if unknown -%}
its path has {{ unknown | join(', ') }}, which is not read back from a path; what is: %Y, %y, %m, %d, %j, %H, %M, %S, %F, %T
        {%- elif not is_day or (entity.eff_type != 'date' and 'H' not in letters) -%}
its path, {{ entity.source.path }}, does not tell the {{ 'day' if not is_day else 'time of day' }} of a load
        {%- endif -%}
    {%- endset -%}
    {{ return({'glob': glob | join, 'regex': regex | join ~ '(?:/|$)', 'letters': letters, 'problem': problem | trim or none}) }}
{%- endmacro -%}


{#- The business time in a path, as a datetime; none where it has none that exists.
    Arguments: letters (of _landed_times_pattern()), values (the texts found for them, empty ones
    where the path is another one). -#}
{%- macro _landed_times_path(letters, values) -%}
    {%- if not values[0] -%}{{ return(none) }}{%- endif -%}
    {%- set found = dict(zip(letters, values)) -%}
    {%- set year, month = (found.get('Y') or '20' ~ found.get('y')) | int, (found.get('m') or 1) | int -%}
    {%- set start = modules.datetime.datetime(
        year, month, 1, (found.get('H') or 0) | int, (found.get('M') or 0) | int, (found.get('S') or 0) | int) -%}
    {%- set time = start + modules.datetime.timedelta(days=(found.get('j') or found.get('d')) | int - 1) -%}
    {{ return(time if time.year == year and (found.get('j') or time.month == month) else none) }}
{%- endmacro -%}


{#- A text for each date, the same for dates that are read alike, so that one check stands for all
    of them: of CSV the headers, of typed files the columns. None for each date if they have to be
    checked one by one.
    Arguments: entity, times, files (of _input_files()). -#}
{%- macro _dates_signatures(entity, times, files) -%}
    {%- set facts, apart = entity.source.facts, [none] * times | length -%}
    {%- if facts.reads == 'table' -%}{{ return(['table'] * times | length) }}{%- endif -%}
    {#- each date has a folder with its files and nothing else; with multiLine the line ends of
        each one matter -#}
    {%- if not files or facts.has_names or spark_cdc._csv_is_multi_line(entity) or files | selectattr('files', 'equalto', 0) | list
            or spark_cdc._found_by_pattern(entity, times).count != files | map(attribute='files') | sum + times | length -%}
        {{ return(apart) }}
    {%- endif -%}
    {%- set paths, told = files | map(attribute='paths') | sum(start=[]), {} -%}
    {%- if not facts.has_header -%}
        {%- for schema in spark_cdc._file_schemas(entity, paths, []) -%}
            {%- do told.update(dict.fromkeys(schema.paths, tojson(schema.columns))) -%}
        {%- endfor -%}
    {%- elif not spark_cdc._csv_has_header(entity) -%}
        {%- do told.update(dict.fromkeys(paths, 'no header')) -%}
    {%- elif files | map(attribute='bytes') | max <= 2 ** 28 and spark_cdc._csv_encoding(entity) == 'utf-8'
            and not spark_cdc._reader_option(entity, ['comment', 'linesep'], '') -%}
        {#- content is read as bytes: of files that are not compressed, and fit in memory -#}
        {%- set sql = "select path, substring_index(cast(substring(content, 1, 65536) as string), '\\n', 1) as header from "
            ~ spark_cdc._direct_sql(entity, times, 'binaryFile') -%}
        {%- for row in spark_cdc._query(sql)
                if row.header | trim and row.path.split('.')[-1] not in ['gz', 'bz2', 'deflate', 'snappy', 'lz4', 'zst', 'xz'] -%}
            {%- do told.update({row.path: row.header | trim}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- if paths | reject('in', told) | list -%}{{ return(apart) }}{%- endif -%}
    {%- set signatures = [] -%}
    {%- for one in files -%}
        {%- set columns = [] -%}
        {%- for path in one.paths -%}{%- do columns.append(told[path]) -%}{%- endfor -%}
        {%- do signatures.append(tojson([columns | unique(case_sensitive=true) | sort(case_sensitive=true), one.files > 1])) -%}
    {%- endfor -%}
    {{ return(signatures) }}
{%- endmacro -%}
