{{ spark_cdc.current() }}
