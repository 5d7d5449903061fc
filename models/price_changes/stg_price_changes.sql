{{ spark_cdc.stage() }}
