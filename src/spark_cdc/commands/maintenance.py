"""`spark-cdc maintain`, `vacuum`, `compact`: macros that dbt runs; `verify`: data tests."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import dataclass

import yaml

from spark_cdc import console, dbt_runner, parsing, project, state
from spark_cdc.errors import SparkCdcError

TAG = "tag:spark_cdc_verify"


@dataclass(frozen=True)
class Options:
    """Options of the four commands."""

    macro: str
    select: list[str]
    target: str | None
    dry_run: bool = False
    retention: float = 0
    force: bool = False
    older_than: int = 0
    histories: bool = False


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add the four commands to the command line."""
    maintain = parsing.add_command(
        subparsers,
        "maintain",
        "compact and vacuum what is due by policy; for a scheduler",
        "Merges older loads of the entities that have as many as their policy says, and drops what"
        " that superseded long enough ago. Does nothing where nothing is due.",
        "spark-cdc maintain",
    )
    _common(maintain, run)

    vacuum = parsing.add_command(
        subparsers,
        "vacuum",
        "drop old files of superseded and failed loads",
        "Drops partitions that no manifest names, by metadata alone.",
        "spark-cdc vacuum orders --dry-run",
    )
    _common(vacuum, run)
    vacuum.add_argument(
        "--retention",
        type=float,
        default=168,
        metavar="HOURS",
        help="keep what was superseded or left behind in these last hours (default: 168)",
    )
    vacuum.add_argument(
        "--force",
        action="store_true",
        help="accept a retention below 24 hours; no load or query may run meanwhile",
    )

    compact = parsing.add_command(
        subparsers,
        "compact",
        "merge older loads into two; no view changes",
        "Keeps manifest, partitions and files few. The last load stays as it is.",
        "spark-cdc compact orders --older-than 30 --dry-run",
    )
    _common(compact, run)
    compact.add_argument(
        "--older-than",
        type=int,
        default=30,
        metavar="DAYS",
        help="loads at least this many days before the last one (default: 30; 0: all before it)",
    )
    compact.add_argument(
        "--histories", action="store_true", help="also merge the results of earlier compactions"
    )

    verify = parsing.add_command(
        subparsers,
        "verify",
        "check whole ledgers, and print how to repair them",
        "Runs the data tests that verify entities (dbt test --select tag:spark_cdc_verify), and"
        " prints for each problem where it began and how to repair it.",
        "spark-cdc verify orders",
    )
    _common(verify, verify_all)


def _common(parser: argparse.ArgumentParser, command: Callable[[Options], int]) -> None:
    dbt_runner.add_arguments(parser, "select", "target", "branch")
    if command is run:
        parsing.add_dry_run(parser)
    parser.set_defaults(macro=parser.prog.split()[-1])
    parsing.set_run(parser, Options, command)


def macro_arguments(arguments: Options) -> dict[str, object]:
    """Return the arguments of the macro that a command line asks for."""
    values: dict[str, object] = {}
    if arguments.select:
        values["entities"] = list(arguments.select)
    if arguments.macro == "vacuum":
        hours = arguments.retention
        values["retention_hours"] = int(hours) if hours == int(hours) else hours
        values["force"] = arguments.force
    elif arguments.macro == "compact":
        values["older_than_days"] = arguments.older_than
        values["histories"] = arguments.histories
    return values | {"execute": not arguments.dry_run}


def run(arguments: Options) -> int:
    """Run the macro, and print what it did or would do."""
    dbt_runner.Dbt(arguments.target).show(arguments.macro, **macro_arguments(arguments))
    if arguments.dry_run:
        console.dry_run()
    return 0


def verify_all(arguments: Options) -> int:
    """Run the data tests that verify entities, and print what they found."""
    dbt = dbt_runner.Dbt(arguments.target)
    asked = state.ask(dbt, arguments.select, tests={})["entities"]
    for one in asked:
        for problem in one.get("broken", ()):
            print(f"verify leaves out {one['entity']}: {problem}")
    plan = {one["entity"]: one["tests"] for one in asked if "tests" in one}
    chosen = [f"{one['model']},{TAG}" for one in plan.values()] if arguments.select else [TAG]
    before = run_results()
    # dbt's flags can say that no run_results.json is written
    options = ("--write-json", "--indirect-selection", "eager")
    done = dbt.run("test", *options, "--select", *chosen, shown=True)
    after = run_results()
    fresh = after is not None and after != before  # each run of dbt writes its own id
    if done.ok and not fresh and any(one["tests"] for one in plan.values()):
        raise SparkCdcError(
            "dbt ran the tests and wrote no run_results.json, so their results are unknown.",
            "Write target-path in dbt_project.yml as plain text, or set DBT_TARGET_PATH.",
        )
    results = json.loads(after or "")["results"] if fresh else []
    failed = {one["unique_id"] for one in results if one["failures"]}
    again = {
        entity: [name for test, name in one["tests"].items() if test in failed]
        for entity, one in plan.items()
        if failed & one["tests"].keys()
    }
    found = [
        *(describe(row) for row in findings(dbt, again)),
        *(lack(entity, one) for entity, one in plan.items() if one["lacking"]),
    ]
    if found:
        print("\n" + "\n\n".join(found), flush=True)
    if found or not done.ok:
        count = f"{len(found)} {'problem' if len(found) == 1 else 'problems'}"
        if not found:  # dbt's messages are on the terminal
            raise SparkCdcError("verify failed.", dbt_runner.LOG)
        step = "Repair them as it says above, then verify again.\nspark-cdc verify"
        names = "".join(f" {name}" for name in arguments.select)
        raise SparkCdcError(f"verify found {count}. Nothing was changed.", f"{step}{names}")
    print("verify: nothing is wrong")
    return 0


def run_results() -> str | None:
    """Return what dbt wrote of its last run, None if there was none."""
    root = project.root()
    settings = yaml.safe_load((root / "dbt_project.yml").read_text(encoding="utf-8"))
    target = root / (os.environ.get("DBT_TARGET_PATH") or settings.get("target-path") or "target")
    written = target / "run_results.json"
    return written.read_text(encoding="utf-8") if written.exists() else None


def findings(dbt: dbt_runner.Dbt, tests: dict[str, list[str]]) -> list[state.Finding]:
    """Return the rows of tests, given by entity; dbt has only said how many there are."""
    if not tests:
        return []
    found = state.ask(dbt, list(tests), findings={"tests": tests})["entities"]
    rows = [row for one in found for row in one.get("findings", ())]
    return sorted(rows, key=lambda row: (row["entity"], row["load_id"] or "", row["problem"]))


def describe(finding: state.Finding) -> str:
    """Return a finding in words."""
    count = finding["row_count"]
    rows = "" if count is None else f"{count} {'row' if count == 1 else 'rows'}: "
    lines = [f"- {finding['entity']}: {rows}{finding['problem']}"]
    if finding["load_id"]:
        lines.append(f"began in: load {finding['load_id']} ({finding['business_time']})")
    if finding["examples"]:
        lines.append(f"examples: {finding['examples']}")
    return "\n  ".join([*lines, f"repair: {finding['repair']}"])


def lack(entity: str, plan: state.Tests) -> str:
    """Return what the YAML of an entity lacks, in words."""
    tests = "".join(f"\n        - spark_cdc.{name}" for name in plan["lacking"])
    return (
        f"- {entity}: not all was verified, since its YAML lacks data tests\n"
        f"  repair: add to the model {plan['model']}\n      data_tests:{tests}"
    )
