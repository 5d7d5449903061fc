"""`spark-cdc vacuum` and `compact`, which are macros that dbt runs, and `verify`: data tests."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from spark_cdc import chain, project
from spark_cdc.errors import SparkCdcError

TAG = "tag:spark_cdc_verify"
SHOW = ("--output", "json", "--limit", "-1", "--indirect-selection", "empty")


def add_parser(subparsers: Any) -> None:
    """Add the three commands to the command line."""
    vacuum = subparsers.add_parser(
        "vacuum", help="drop old partitions that no manifest names; says what unless --execute"
    )
    _common(vacuum, run, "drop them")
    vacuum.add_argument(
        "--retention",
        type=float,
        default=168,
        metavar="HOURS",
        help="keep what was superseded, or written and never committed, later than this (168)",
    )
    vacuum.add_argument(
        "--force", action="store_true", help="accept a retention below 24 hours: nothing may run"
    )

    compact = subparsers.add_parser(
        "compact",
        help="squash older loads without changing any view; says what unless --execute",
    )
    _common(compact, run, "write and commit")
    compact.add_argument(
        "--older-than",
        type=int,
        default=30,
        metavar="DAYS",
        help="loads this many days before the last one, and older (30); 0: all before the last",
    )
    compact.add_argument(
        "--histories", action="store_true", help="merge what was squashed before into the new load"
    )

    verify = subparsers.add_parser(
        "verify",
        help="check the whole ledger; says what is wrong and how to repair it",
        description="Runs the data tests that verify entities (dbt test --select"
        " tag:spark_cdc_verify) and prints what they found: what is wrong, where it began, how to"
        " repair it.",
    )
    _common(verify, verify_all)


def _common(parser: Any, command: Callable[[Any], int], execute: str | None = None) -> None:
    parser.add_argument(
        "--select", nargs="+", default=[], metavar="ENTITY", help="these entities only"
    )
    parser.add_argument("--target", help="target of profiles.yml (local)")
    if execute:
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument("--execute", action="store_true", help=execute)
        choice.add_argument("--dry-run", action="store_true", help="only say what (the default)")
    parser.set_defaults(run=command, macro=parser.prog.split()[-1])


def macro_arguments(arguments: Any) -> dict[str, Any]:
    """Return the arguments of the macro that a command line asks for."""
    values: dict[str, Any] = {}
    if arguments.select:
        values["entities"] = list(arguments.select)
    if arguments.macro == "vacuum":
        hours = arguments.retention
        values["retention_hours"] = int(hours) if hours == int(hours) else hours
        values["force"] = arguments.force
    elif arguments.macro == "compact":
        values["older_than_days"] = arguments.older_than
        values["histories"] = arguments.histories
    return values | {"execute": arguments.execute}


def run(arguments: Any) -> int:
    """Run the macro; dbt's output is what the user sees."""
    values = json.dumps(macro_arguments(arguments))
    words = ["run-operation", f"spark_cdc.{arguments.macro}", "--args", values]
    if not chain.Dbt(arguments.target).run(*words, shown=True).ok:
        raise SparkCdcError(f"{arguments.macro} failed", chain.LOG)
    return 0


def verify_all(arguments: Any) -> int:
    """Run the data tests that verify entities, and print what they found."""
    dbt = chain.Dbt(arguments.target)
    plan = chain.parse_json(dbt.operate("_verify_plan", arguments.select), "spark_cdc verify: ")
    chosen = [f"{one['model']},{TAG}" for one in plan] if arguments.select else [TAG]
    done = dbt.run("test", "--select", *chosen, "--indirect-selection", "eager", shown=True)
    failed = failing_tests()
    if failed:
        # dbt tells how many rows a test gave, not which: they are asked for again
        shown = dbt.run("--quiet", "show", "--select", " ".join(failed), *SHOW)
        if not shown.ok:
            raise SparkCdcError(f"what was found can't be shown:\n{shown.output}", chain.LOG)
        for row in findings(shown.output):
            print(f"\n{describe(row)}")
    lacking = [lack(one) for one in plan if one["lacking"]]
    for text in lacking:
        print(f"\n{text}")
    if lacking or not done.ok:
        raise SparkCdcError("verify found a problem; nothing was changed", chain.LOG)
    print("verify: nothing is wrong")
    return 0


def failing_tests() -> list[str]:
    """Return the names of the tests that gave rows in dbt's last run."""
    root = project.root()
    settings = yaml.safe_load((root / "dbt_project.yml").read_text(encoding="utf-8"))
    target = root / (os.environ.get("DBT_TARGET_PATH") or settings.get("target-path") or "target")
    results = json.loads((target / "run_results.json").read_text(encoding="utf-8"))["results"]
    return [one["unique_id"].split(".")[2] for one in results if one["failures"]]


def findings(output: str) -> Iterator[dict[str, Any]]:
    """Yield the rows that `dbt show` printed of some tests, a JSON list of each."""
    for line in output.splitlines():
        if line.startswith("["):
            yield from sorted(
                json.loads(line), key=lambda row: (row["load_id"] or "", row["problem"])
            )


def describe(finding: dict[str, Any]) -> str:
    """Return a finding in words."""
    count = finding["row_count"]
    rows = "" if count is None else f"{count:.0f} {'row' if count == 1 else 'rows'}: "
    lines = [f"- {finding['entity']}: {rows}{finding['problem']}"]
    if finding["load_id"]:
        lines.append(f"began in: load {finding['load_id']} ({finding['business_time']})")
    if finding["examples"]:
        lines.append(f"examples: {finding['examples']}")
    return "\n  ".join([*lines, f"repair: {finding['repair']}"])


def lack(plan: dict[str, Any]) -> str:
    """Return what the YAML of an entity lacks, in words."""
    tests = "".join(f"\n        - spark_cdc.{name}" for name in plan["lacking"])
    return (
        f"- {plan['entity']}: its YAML lacks data tests, so that not all was verified. Add to the"
        f" model {plan['model']}:\n      data_tests:{tests}"
    )
