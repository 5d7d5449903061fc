{{ spark_cdc.changes() }}
