"""Starts the cluster and a Thrift server on it, runs a command against them, and ends them.

    PYTHONPATH=src:tests python -m cluster COMMAND…

The command finds the server by SPARK_CDC_PORT, as dbt's profile and `spark-cdc` do.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

from cluster.machines import Cluster, environment
from spark_cdc.errors import SparkCdcError
from spark_cdc.server import local as server


def main(words: list[str]) -> int:
    """Returns the command's exit code; a command of one word is a shell's line."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="spark_cdc_cluster_")))
        cluster = Cluster(folder)
        stack.callback(cluster.stop)
        cluster.start()
        state = folder / "driver"
        stack.callback(server.stop, state)
        conf = [f"{key}={value}" for key, value in cluster.conf.items()]
        chosen = server.settings(
            state, port="0", memory="1g", warehouse=str(cluster.warehouse), conf=conf, timeout="300"
        )
        port = server.start(chosen).port
        print(f"Cluster: {cluster.url}, {cluster.alive_workers()} workers, folder {folder}")
        command = words if len(words) > 1 else ["sh", "-c", words[0]]
        done = subprocess.run(command, env={**environment(cluster), "SPARK_CDC_PORT": str(port)})
        return done.returncode


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit("Which command? For example: python -m cluster spark-cdc demo")
    try:
        sys.exit(main(sys.argv[1:]))
    except SparkCdcError as error:
        sys.exit(f"{error.message}\n{error.next_step}")
