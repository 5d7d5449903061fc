"""A Spark cluster on this machine: a standalone master, workers, a metastore in PostgreSQL.

metastore.py  PostgreSQL in a folder of its own
machines.py   master and workers, each a process with a folder; settings for a Thrift server on them
__main__.py   runs any command against it
"""
