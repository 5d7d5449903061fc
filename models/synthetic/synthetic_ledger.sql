{{ spark_cdc.ledger() }}
