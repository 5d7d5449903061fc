{{ spark_cdc.history() }}
