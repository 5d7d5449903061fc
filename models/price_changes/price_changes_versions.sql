{{ spark_cdc.versions() }}
