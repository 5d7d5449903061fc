{{ spark_cdc.ledger(events=true) }}
