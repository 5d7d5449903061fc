{{ spark_cdc.rejects() }}
