"""`spark-cdc secrets`: what keys the hashes of sensitive columns."""

from __future__ import annotations

import json
from typing import Any

from spark_cdc import chain, console
from spark_cdc.errors import SparkCdcError

MARKER = "spark_cdc secrets: "
INIT = "spark-cdc secrets init"


def add_parser(subparsers: Any) -> None:
    """Add `secrets` to the command line."""
    parser = subparsers.add_parser(
        "secrets",
        help="the secret that keys the hashes of sensitive columns",
        description="init makes the first secret, rotate another, which the next load of each"
        " entity takes, check tells which there are, which entities use which, and whether they"
        " are what they were. Spark makes them in the restricted schema; none is ever shown.",
    )
    parser.add_argument("action", choices=("init", "rotate", "check"))
    parser.add_argument(
        "--force", action="store_true", help="rotate, though entities have to be replayed then"
    )
    parser.add_argument("--output", choices=("table", "json"), default="table", help="of check")
    chain.add_arguments(parser, "target")
    parser.set_defaults(run=run)


def run(arguments: Any) -> int:
    """Run the macro; check raises what is wrong with secrets that entities use."""
    more = {"force": True} if arguments.force else {}
    done = chain.Dbt(arguments.target).operate("secrets", action=arguments.action, **more)
    if arguments.action != "check":
        print("\n".join(line for line in done.lines if line.startswith("made the secret ")))
        return 0
    found = chain.parse_json(done, MARKER)
    print(json.dumps(found, indent=2) if arguments.output == "json" else describe(found))
    wrong = problems(found)
    if wrong:
        raise SparkCdcError(
            "; ".join(wrong),
            "Put the table back as it was, or go on with another secret: spark-cdc secrets rotate",
        )
    return 0


def describe(found: dict[str, Any]) -> str:
    """Return a line for each secret: who uses it, and whether it can go."""
    if not found["secrets"]:
        return f"There is no secret. {INIT} makes one."
    rows = []
    for one in found["secrets"]:
        unused = "" if one["is_current"] else "no entity: its table can be dropped"
        used = ", ".join(one["entities"]) or unused
        rows.append([one["id"], one["table"], "yes" if one["is_current"] else "", used])
    return console.table(["secret", "table", "taken by loads", "used by"], rows, 60)


def problems(found: dict[str, Any]) -> list[str]:
    """Return what is wrong with secrets that the loads so far were hashed with."""
    proofs = {one["id"]: one["proof"] for one in found["secrets"]}
    said = []
    for one in found["used"]:
        if one["id"] not in proofs:
            said.append(f"{one['entity']}: its secret {one['id']} is gone")
        elif proofs[one["id"]] != one["proof"]:
            said.append(f"{one['entity']}: its secret {one['id']} is another one than before")
    return said
