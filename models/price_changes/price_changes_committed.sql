{{ spark_cdc.committed() }}
