"""Runs dbt in forked children: dbt is imported and the project parsed once, in this process.

Reads a line of JSON per run from standard input: {"run": number, "words": [...], "env": {...},
"schema": name, "folder": the child's own folder for logs and target}. Answers with a line per event
on standard output: {"run", "pid"} when the child is there, {"run", "code"} when it ended (negative:
the signal that killed it).

    python -m faults.runner PROJECT_FOLDER
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner

PARSED_SCHEMA = "parsed_schema"


def child(project: Path, manifest: Any, order: dict[str, Any]) -> int:
    """What a child does; returns its exit code."""
    folder = Path(order["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    printed = os.open(folder / "printed.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    os.environ.update(order["env"])
    os.chdir(project)
    for node in [*manifest.nodes.values(), *manifest.sources.values()]:
        node.schema = order["schema"] + ("_sensitive" if node.schema.endswith("_sensitive") else "")
        if getattr(node, "relation_name", None):
            node.relation_name = node.relation_name.replace(PARSED_SCHEMA, order["schema"])
    manifest.build_flat_graph()  # what macros see as `graph`
    result = dbtRunner(manifest=manifest).invoke(
        [
            *order["words"],
            *("--project-dir", str(project), "--profiles-dir", str(project)),
            *("--target-path", str(folder / "target"), "--log-path", str(folder)),
        ]
    )
    if result.exception:
        print(result.exception)
    return 0 if result.success else 1


def main() -> None:
    """Forks until standard input ends."""
    project = Path(sys.argv[1])
    os.environ.update(FAULTS_PORT="1", FAULTS_SCHEMA=PARSED_SCHEMA)
    os.chdir(project)
    words = ["--project-dir", str(project), "--profiles-dir", str(project)]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what dbt prints is no answer

    def answer(**what: Any) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    parsed = dbtRunner().invoke(["--quiet", "parse", *words])
    if not parsed.success:
        raise SystemExit(f"the project can't be parsed: {parsed.exception}")
    manifest = parsed.result
    answer(ready=True)
    running: dict[int, int] = {}
    waiting = b""
    while True:
        readable, _, _ = select.select([0], [], [], 0.02 if running else None)
        if readable:
            part = os.read(0, 65536)
            if not part:
                break
            waiting += part
            *lines, waiting = waiting.split(b"\n")
            for line in lines:
                order = json.loads(line)
                pid = os.fork()
                if pid == 0:
                    try:
                        code = child(project, manifest, order)
                    except BaseException:
                        traceback.print_exc()
                        code = 2
                    sys.stdout.flush()
                    sys.stderr.flush()
                    os._exit(code)
                running[pid] = order["run"]
                answer(run=order["run"], pid=pid, at=time.time())
        for pid in list(running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                answer(run=running.pop(pid), code=os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
