{#- All facts about formats, in two tables: source formats and formats of tables. A new format is a
    row here, and no other file names one (tests/test_layout.py). Of source formats, what is so
    unless a row says otherwise:
    reads           files, table (a dbt source or model) or feed (of a table's changes)
    reader          of files: the reader of Spark
    is_text         values arrive as text and are cast (source.text is true by default)
    has_header      a line names the columns, as in CSV; options of CSV's reader are known
    has_names       each row names its columns, as in JSON, which differ by case, and may lack some
    by_column       Spark reads those columns alone that a query asks for
    merges          the reader's mergeSchema makes one schema of those of several files; else the
                    files of each schema are read on their own
    schema_options  options that give the reader one schema for all files
    no_backticks    Spark finds no column again whose name has a backtick
    is_streamed     what spark-cdc stream lands
    options         of the reader, unless the entity gives them
    settings        of the session that reads
    on_dbt_2        tests/test_dbt_v2_loads.py loads it -#}
{%- macro _source_row() -%}
    {{ return(dict(
        dict.fromkeys('reader is_text has_header has_names by_column merges no_backticks is_streamed on_dbt_2'.split(), false),
        reads='files', schema_options=[], options={}, settings={}
    )) }}
{%- endmacro -%}


{#- By the names that source.format takes. -#}
{%- macro _source_formats() -%}
    {%- set row = spark_cdc._source_row() -%}
    {{ return({
        'csv': dict(row, reader='csv', is_text=true, has_header=true, on_dbt_2=true, options={'header': 'true', 'nullValue': '\\N'}),
        'json': dict(row, reader='text', is_text=true, has_names=true),
        'parquet': dict(row, reader='parquet', by_column=true, merges=true, is_streamed=true, settings={'spark.sql.legacy.parquet.nanosAsLong': 'true'},
                        options={'parquet.page.verify-checksum.enabled': 'true'}),
        'orc': dict(row, reader='orc', by_column=true, merges=true, no_backticks=true),
        'avro': dict(row, reader='avro', schema_options=['avroschema', 'avroschemaurl']),
        'table': dict(row, reads='table'),
        'change_feed': dict(row, reads='feed'),
    }) }}
{%- endmacro -%}


{#- The row of a source's format. Argument: source (as it is written, or completed). -#}
{%- macro _source_facts(source) -%}
    {#- another one is reported -#}
    {{ return(spark_cdc._source_formats().get(spark_cdc._source_format(source if source is mapping else {})) or spark_cdc._source_row()) }}
{%- endmacro -%}


{%- macro _source_format(source) -%}{{ return(source.get('format', 'csv')) }}{%- endmacro -%}


{#- Of tables, what is so unless a row says otherwise:
    has_log       the table keeps a log of its files and past states (snapshots). Its partitions are
                  rows of that log, not folders that the metastore knows; it takes delete and merge
    log_folder    its log, in the table's folder
    lists_files   the log can be queried for files, partitions and commits (.entries, .partitions,
                  .snapshots); else the table's rows name the files, `describe history` the commits
    catalog       part of the name of the class that spark_catalog has to be
    own_views     with the format's extension of SQL, views would be its own, which can't be
                  altered; its catalog caches tables, and is the session's alone
    options       of new tables: an overwrite replaces only the partitions that are written, and
                  pages of Parquet are held against their checksums, which are written in any case
                  (https://parquet.apache.org/docs/file-format/data-pages/checksumming)
    dictionaries  the option that does without dictionaries: of all columns, or of one (#name)
    properties    of new tables. Iceberg is to write rows as they come, as the others do, without a
                  shuffle and a sort of its own, and not to keep a copy of its list of snapshots for
                  each load. Delta is to keep no minimum and maximum of columns in its log: the
                  footers of the files have them, and they take a fifth of the write
    published     properties of tables that publish() keeps
    commit_note   the session's setting whose value comes into the record of a commit
    features      properties that a column of a type needs
    no_in_names   letters that names of columns can't have; no_types: types that it lacks
    is_narrow     does not give back all values (_orc_misfit()), nor names with a backtick
    frees         how to be rid of files that the log no longer needs (%s: the table)
    on_dbt_2      tests/test_dbt_v2_loads.py writes it -#}
{%- macro _table_row() -%}
    {{ return(dict(
        dict.fromkeys('has_log log_folder lists_files catalog own_views dictionaries commit_note is_narrow frees on_dbt_2'.split(), false),
        options={}, properties={}, published={}, features={}, no_in_names='', no_types=[]
    )) }}
{%- endmacro -%}


{#- By the names that file_format takes (docs/file_formats.md). -#}
{%- macro _table_formats() -%}
    {%- set row, overwrite = spark_cdc._table_row(), {'partitionOverwriteMode': 'dynamic'} -%}
    {{ return({
        'parquet': dict(row, dictionaries='parquet.enable.dictionary', on_dbt_2=true,
                        options=dict({'parquet.page.verify-checksum.enabled': 'true'}, **overwrite)),
        'orc': dict(row, is_narrow=true, options=overwrite),
        'delta': dict(
            row, has_log=true, log_folder='_delta_log', catalog='DeltaCatalog', no_in_names=' ,;{}()\n\t=',
            properties={'delta.dataSkippingNumIndexedCols': '0'}, published={'delta.enableChangeDataFeed': 'true'},
            features={'timestamp_ntz': {'delta.feature.timestampNtz': 'supported'}},
            commit_note='spark.databricks.delta.commitInfo.userMetadata',
            frees='vacuum %s (files that Delta has not needed for seven days: delta.deletedFileRetentionDuration)'
        ),
        'iceberg': dict(
            row, has_log=true, lists_files=true, catalog='iceberg', own_views=true, no_types=['tinyint', 'smallint', 'byte', 'short'],
            properties={
                'write.distribution-mode': 'none', 'write.spark.fanout.enabled': 'true',
                'write.metadata.delete-after-commit.enabled': 'true', 'write.metadata.previous-versions-max': '20',
                'commit.retry.num-retries': '20',
            },
            commit_note='spark.sql.iceberg.snapshot-property.spark_cdc',
            frees="call spark_catalog.system.expire_snapshots('%s') (snapshots that are older than five days), and "
                ~ 'remove_orphan_files for what writes that broke off left'
        ),
    }) }}
{%- endmacro -%}


{#- The format of tables that say nothing, and of cdc_loads where others would get into the way. -#}
{%- macro _plain_format() -%}{{ return('parquet') }}{%- endmacro -%}


{#- The row of a table's format; that of other formats, and of none, says nothing. -#}
{%- macro _table_facts(format) -%}{{ return(spark_cdc._table_formats().get(format) or spark_cdc._table_row()) }}{%- endmacro -%}


{#- The type that a table of a format stores: Iceberg has no whole numbers of less than 4 bytes.
    Arguments: facts (of _table_facts()), type (plain). Returns a text. -#}
{%- macro _type_in(facts, type) -%}
    {%- if not facts.no_types -%}{{ return(type) }}{%- endif -%}
    {%- set text = namespace(of='>' ~ type ~ '>') -%}
    {%- for before in '<:,>' -%}
        {%- for after in ',>' -%}
            {%- set text.of = text.of.replace(before ~ 'tinyint' ~ after, before ~ 'int' ~ after).replace(before ~ 'smallint' ~ after, before ~ 'int' ~ after) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(text.of[1:-1]) }}
{%- endmacro -%}


{#- The formats of tables of which a fact is not so, in words: parquet, orc or iceberg. -#}
{%- macro _table_formats_without(fact) -%}
    {%- set names = [] -%}
    {%- for name, facts in spark_cdc._table_formats().items() if not facts[fact] -%}{%- do names.append(name) -%}{%- endfor -%}
    {{ return(names[:-1] | join(', ') ~ ' or ' ~ names[-1]) }}
{%- endmacro -%}
