{{ spark_cdc.event_versions() }}
