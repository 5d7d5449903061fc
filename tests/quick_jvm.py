"""Options of the test servers' JVM."""

# Many short statements on little data: its second compiler costs a quarter more CPU than it
# saves. Without it the JVM keeps 48 MB for code, which fill up: a fifth of its time goes into
# sweeping them, and in the end statements fail.
JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
