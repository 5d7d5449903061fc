"""From PostgreSQL to `current`, whole and on this machine: what `make e2e` runs.

downloads.py  Kafka, Connect, Debezium and a registry from Maven, each with its checksum
services.py   the processes: PostgreSQL, registry, broker, Connect, an S3 server
tables.py     the tables of the shop, in the words of PostgreSQL and of dbt
workload.py   what is done to them: random transactions, with a log of its own of what each did
"""
