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
    Arguments: diff (of _definition_diff()), before (layout), found (the ledger's columns: physical name in lower case to type), since.
    Returns the next layout. -#}
{%- macro _layout(diff, before, found, since) -%}
    {%- set columns = {} -%}
    {%- set shown = dict(before.get('shown') or {}) -%}
    {%- set retired = (before.get('retired') or []) | list -%}
    {%- for former in diff.dropped -%}
        {%- set place = spark_cdc._place(before, former) -%}
        {%- do retired.append(place.at | lower) -%}
        {%- do shown.update({former.name | lower: place}) -%}
    {%- endfor -%}
    {%- set taken = retired | list -%}
    {%- for item in diff.columns if item.former is not none -%}{%- do taken.append(spark_cdc._place(before, item.former).at | lower) -%}{%- endfor -%}
    {%- for item in diff.columns -%}
        {%- set name = item.column.name -%}
        {%- set place = none if item.former is none else spark_cdc._place(before, item.former) -%}
        {%- if item.former is none or item.conversion is not none -%}
            {%- set former_place = place -%}
            {%- set place = {'at': spark_cdc._free_name(item.column, taken, found)} -%}
            {%- do taken.append(place.at | lower) -%}
            {%- if former_place -%}
                {%- do retired.append(former_place.at | lower) -%}
                {%- set place = dict(place, was=former_place, convert=item.conversion.sql) -%}
            {%- elif item.default is not none -%}
                {%- set place = dict(place, default=item.default, since=since) -%}
            {%- endif -%}
        {%- endif -%}
        {%- do columns.update({name | lower: place}) if place != {'at': name} -%}
        {%- do shown.update({item.former.name | lower: place}) if item.former is not none -%}
    {%- endfor -%}
    {%- for item in diff.columns -%}{%- do shown.pop(item.column.name | lower, none) -%}{%- endfor -%}
    {%- set parts = {'columns': columns, 'shown': shown, 'retired': retired, 'rekeyed': since if diff.key != 'same' else before.get('rekeyed')} -%}
    {{ return(dict(parts.items() | selectattr(1))) }}
{%- endmacro -%}


{#- A name for a new physical column: the declared one, with a number behind it if loads have used that. A column that an attempt without
    a commit has added is taken, if it has the type. -#}
{%- macro _free_name(column, taken, found) -%}
    {%- set type = spark_cdc._plain_type_shown(column.data_type) -%}
    {%- for number in range(1, 1000) -%}
        {%- set name = column.name if number == 1 else column.name ~ '__' ~ number -%}
        {%- if name | lower not in taken and found.get(name | lower, type) == type -%}{{ return(name) }}{%- endif -%}
    {%- endfor -%}
{%- endmacro -%}
