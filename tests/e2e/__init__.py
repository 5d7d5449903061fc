"""From PostgreSQL to `current`, whole and on this machine: what `make e2e` runs.

downloads.py  Kafka, Connect, Debezium and a registry from Maven, each with its checksum
services.py   the processes before Spark: PostgreSQL, registry, broker, Connect
tables.py     the tables of the shop, in the words of PostgreSQL and of dbt
workload.py   what is done to them: random transactions, with a log of its own of what each did
shop.py       the dbt project, as `spark-cdc new` writes it
loading.py    the Spark server, the stream, the loads, and who starts again what ended
check.py      tables against the database, versions against its log
__main__.py   a run
"""
