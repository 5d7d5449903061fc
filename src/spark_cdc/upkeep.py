"""`spark-cdc vacuum` and `compact`, which are macros that dbt runs, and `verify`: data tests."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import yaml

from spark_cdc import chain, project
from spark_cdc.errors import SparkCdcError

TAG = "tag:spark_cdc_verify"


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
    chain.add_arguments(parser, "target", "branch")
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
    before = run_results()
    # dbt's flags can say that no run_results.json is written
    options = ("--write-json", "--indirect-selection", "eager")
    done = dbt.run("test", *options, "--select", *chosen, shown=True)
    after = run_results()
    fresh = after is not None and after != before  # each run of dbt writes its own id
    if done.ok and not fresh and any(one["tests"] for one in plan):
        raise SparkCdcError(
            "verify can't tell what the tests found: dbt ran them and wrote no run_results.json",
            "let dbt_project.yml name target-path as plain text, or set DBT_TARGET_PATH",
        )
    results = json.loads(after or "")["results"] if fresh else []
    failed = {one["unique_id"] for one in results if one["failures"]}
    again = {
        one["entity"]: [name for test, name in one["tests"].items() if test in failed]
        for one in plan
        if failed & one["tests"].keys()
    }
    found = [
        *(describe(row) for row in findings(dbt, again)),
        *(lack(one) for one in plan if one["lacking"]),
    ]
    if found:
        print("\n" + "\n\n".join(found), flush=True)
    if found or not done.ok:
        count = f"{len(found)} {'problem' if len(found) == 1 else 'problems'}"
        what = f"verify found {count}; nothing was changed" if found else "verify failed"
        raise SparkCdcError(what, chain.LOG)
    print("verify: nothing is wrong")
    return 0


def run_results() -> str | None:
    """Return what dbt wrote of its last run, None if there was none."""
    root = project.root()
    settings = yaml.safe_load((root / "dbt_project.yml").read_text(encoding="utf-8"))
    target = root / (os.environ.get("DBT_TARGET_PATH") or settings.get("target-path") or "target")
    written = target / "run_results.json"
    return written.read_text(encoding="utf-8") if written.exists() else None


def findings(dbt: chain.Dbt, tests: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return the rows of tests, given by entity; dbt has only said how many there are."""
    if not tests:
        return []
    values = json.dumps({"tests": tests})
    done = dbt.run("run-operation", "spark_cdc._verify_findings", "--args", values)
    if not done.ok:
        raise SparkCdcError(f"what was found can't be shown:\n{done.output}", chain.LOG)
    rows = chain.parse_json(done, "spark_cdc findings: ")
    return sorted(rows, key=lambda row: (row["entity"], row["load_id"] or "", row["problem"]))


def describe(finding: dict[str, Any]) -> str:
    """Return a finding in words."""
    count = finding["row_count"]
    rows = "" if count is None else f"{count} {'row' if count == 1 else 'rows'}: "
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
        f"- {plan['entity']}: not all was verified, since its YAML lacks data tests\n"
        f"  repair: add to the model {plan['model']}\n      data_tests:{tests}"
    )
