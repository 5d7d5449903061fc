{{ spark_cdc.quality() }}
