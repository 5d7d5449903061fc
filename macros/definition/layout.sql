{#- Where the ledger holds what. A table in a Hive metastore can only get more columns, so those of a ledger are never dropped, renamed
    or given another type: where an entity's definition changes, its layout says which physical column holds which declared one. It
    stands in the manifest and in the record of each load, and is empty as long as every column lies under its own name.

    A layout is a dictionary:
    columns   by name in lower case, those that are not simply there under their own name, each as a place:
              {at: physical column, was: place before the type changed, convert: expression that makes the new value of raw__value,
              default: expression for rows of loads before `since`, since: when the column came}
    shown     by name, places of columns that were dropped or have another name now; <entity>_committed goes on showing them
    retired   physical columns that are no longer written
    rekeyed   loads before this have key hashes of another definition

    Points in time are the date or time that load ids begin with, so that they hold for every rerun of a load (see _written_before()).
    Arguments: diff (of definition_diff()), before (layout), found (the ledger's columns: physical name in lower case to type), since.
    Returns the next layout. -#}
{%- macro layout(diff, before, found, since) -%}
    {%- set columns = {} -%}
    {%- set shown = dict(before.get('shown') or {}) -%}
    {%- set retired = (before.get('retired') or []) | list -%}
    {%- set taken = retired | list -%}
    {%- for item in diff.columns if item.former is not none -%}{%- do taken.append(spark_cdc._place(before, item.former).at | lower) -%}{%- endfor -%}
    {%- for former in diff.dropped -%}
        {%- do taken.append(spark_cdc._place(before, former).at | lower) -%}
        {%- do retired.append(spark_cdc._place(before, former).at | lower) -%}
        {%- do shown.update({former.name | lower: spark_cdc._place(before, former)}) -%}
    {%- endfor -%}
    {%- for item in diff.columns -%}
        {%- set column = item.column -%}
        {%- if item.former is not none and item.conversion is none -%}
            {%- set place = spark_cdc._place(before, item.former) -%}
        {%- else -%}
            {%- set place = {'at': spark_cdc._free_name(column, taken, found)} -%}
            {%- do taken.append(place.at | lower) -%}
            {%- if item.former is not none -%}
                {%- set former_place = spark_cdc._place(before, item.former) -%}
                {%- do retired.append(former_place.at | lower) -%}
                {%- do place.update({'was': former_place, 'convert': item.conversion.sql}) -%}
            {%- elif item.default is not none -%}
                {%- do place.update({'default': item.default, 'since': since}) -%}
            {%- endif -%}
        {%- endif -%}
        {%- if place != {'at': column.name} -%}{%- do columns.update({column.name | lower: place}) -%}{%- endif -%}
        {%- if item.former is not none and item.former.name | lower != column.name | lower -%}
            {%- do shown.update({item.former.name | lower: place}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for item in diff.columns -%}{%- do shown.pop(item.column.name | lower, none) -%}{%- endfor -%}

    {%- set next = {} -%}
    {%- for part, content in [('columns', columns), ('shown', shown), ('retired', retired),
                              ('rekeyed', since if diff.key != 'same' else before.get('rekeyed'))] if content -%}
        {%- do next.update({part: content}) -%}
    {%- endfor -%}
    {{ return(next) }}
{%- endmacro -%}


{#- Where a column is, given its name. -#}
{%- macro _place(layout, column) -%}
    {{ return((layout.get('columns') or {}).get(column.name | lower) or {'at': column.name}) }}
{%- endmacro -%}


{#- A name for a new physical column: the declared one, with a number behind it if loads have used that. A column that an attempt without
    a commit has added is taken, if it has the type. -#}
{%- macro _free_name(column, taken, found) -%}
    {%- for number in range(1, 1000) -%}
        {%- set name = column.name if number == 1 else column.name ~ '__' ~ number -%}
        {%- if name | lower not in taken and found.get(name | lower, spark_cdc._plain_type(column.data_type)) == spark_cdc._plain_type(column.data_type) -%}
            {{ return(name) }}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}


{#- A column's default as an expression of its type. -#}
{%- macro _default_sql(entity, column) -%}
    {%- set text = spark_cdc._literal(column.default | string | lower if column.default is boolean else column.default) -%}
    {%- if spark_cdc._plain_type(column.data_type) == 'timestamp' -%}
        {{ return(spark_cdc._cast_instant(text, none, entity.timezone)) }}
    {%- endif -%}
    {{ return('try_cast(' ~ text ~ ' as ' ~ column.data_type ~ ')') }}
{%- endmacro -%}


{#- What a place holds, whichever load wrote the row: an expression over the ledger's columns, or those of <entity>_events. Arguments: place,
    events (whether it is the latter), prefix (of the physical names: old__ for the former keys there). -#}
{%- macro _place_sql(place, events=false, prefix='') -%}
    {%- set own = spark_cdc._quote(prefix ~ place.at) -%}
    {%- if place.get('was') -%}
        {{ return('coalesce(' ~ own ~ ', ' ~ place.convert | replace('raw__value', spark_cdc._place_sql(place.was, events, prefix)) ~ ')') }}
    {%- elif place.get('default') -%}
        {{ return('if(' ~ spark_cdc._written_before(place.since, events) ~ ', ' ~ place.default ~ ', ' ~ own ~ ')') }}
    {%- endif -%}
    {{ return(own) }}
{%- endmacro -%}


{#- Whether a row was first written by a load before a point in time, as a condition: by the row's own business date or start, so that it holds
    too where rows of the history were gathered under another load's name. Events are never gathered. -#}
{%- macro _written_before(since, events=false) -%}
    {%- if events -%}{{ return("load_id < '" ~ since ~ "'") }}{%- endif -%}
    {%- set date = since[:4] ~ '-' ~ since[4:6] ~ '-' ~ since[6:8] -%}
    {%- if 'T' not in since -%}{{ return("business_date < date'" ~ date ~ "'") }}{%- endif -%}
    {%- set clock = since[9:11] ~ ':' ~ since[11:13] ~ ':' ~ since[13:15] -%}
    {{ return('if(operation in ' ~ spark_cdc.operations('changes') ~ ", eff_start_date < timestamp_ntz'" ~ date ~ ' ' ~ clock
        ~ "', load_id < '" ~ since ~ "')") }}
{%- endmacro -%}
