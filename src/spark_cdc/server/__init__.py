"""The local Spark server, with Java, jars, table formats and S3; and Spark in a process."""
