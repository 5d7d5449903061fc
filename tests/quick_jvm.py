"""Options of the test servers: many short statements on little data."""

# The JVM's second compiler costs a quarter more CPU here than it saves. Without it the JVM keeps
# 48 MB for code, which fill up: sweeping them takes a fifth of its time, and in the end statements
# fail. A larger young generation and metaspace spare collections of everything.
JVM = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC -Xms1g"
    " -XX:NewRatio=1 -XX:MetaspaceSize=320m"
)
# By default each task that sorts or aggregates takes 64 MB, and each broadcast 4 MB: of 16 rows
# most of the time went into clearing them. The rest is kept for a user interface that is off.
SPARK = (
    "spark.buffer.pageSize=256k",
    "spark.broadcast.blockSize=64k",
    "spark.sql.ui.retainedExecutions=10",
    "spark.ui.retainedJobs=10",
    "spark.ui.retainedStages=10",
    "spark.ui.retainedTasks=100",
    "spark.sql.thriftServer.ui.retainedStatements=10",
    "spark.sql.thriftServer.ui.retainedSessions=10",
)
# One task per stage, and so no plans that are made again, and shown again, after each stage:
# of wide statements that is a quarter. `make test-all` has several tasks, and plans as users do.
ONE_TASK = (
    "spark.sql.shuffle.partitions=1",
    "spark.sql.leafNodeDefaultParallelism=1",
    "spark.sql.files.minPartitionNum=1",
    "spark.sql.adaptive.enabled=false",
    "spark.sql.ui.explainMode=simple",
)
SEVERAL_TASKS = ("spark.sql.shuffle.partitions=4",)
