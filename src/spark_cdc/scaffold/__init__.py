"""What `spark-cdc new` and `init` write: projects and entities."""
