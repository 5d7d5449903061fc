"""The job behind `spark-cdc stream`: messages into the landing, in batches of Structured Streaming.

times     which business time a batch goes to, and when one is closed
journal   what of that is remembered, beside Spark's checkpoint
messages  where messages come from, and what they are by their schemas
landing   a batch into its folder, exactly once
batches   a batch as Spark has it
files     where the landing lies
job       all of it as a process
"""

KAFKA = ("topic", "pattern")  # kinds of sources whose messages come from topics
SOURCES = (*KAFKA, "files")
