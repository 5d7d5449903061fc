{{ spark_cdc.events() }}
