{{ spark_cdc.load_log() }}
