"""`spark-cdc secrets`: what keys the hashes of sensitive columns."""

from __future__ import annotations

from dataclasses import dataclass

from spark_cdc import console, dbt_runner, parsing, state
from spark_cdc.errors import SparkCdcError

INIT = "spark-cdc secrets init"


@dataclass(frozen=True)
class Options:
    """Options of all three commands."""

    action: str
    target: str | None
    force: bool = False
    output: str = "table"
    dry_run: bool = False


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `secrets` to the command line."""
    _, actions = parsing.add_group(
        subparsers,
        "secrets",
        "make, rotate or check the secret that keys hashes of sensitive columns",
        "Spark makes secrets in the restricted schema; none is ever shown.",
        INIT,
    )
    init = parsing.add_command(actions, "init", "make the first secret", "", INIT)
    rotate = parsing.add_command(
        actions,
        "rotate",
        "make another secret, which the next load of each entity takes",
        "",
        "spark-cdc secrets rotate",
    )
    rotate.add_argument(
        "--force", action="store_true", help="rotate although entities need a replay afterwards"
    )
    for parser in (init, rotate):
        parsing.add_dry_run(parser)
    check = parsing.add_command(
        actions,
        "check",
        "list the secrets, who uses them, and whether they are unchanged",
        "",
        "spark-cdc secrets check --output json",
    )
    parsing.add_output(check)
    for parser in actions.choices.values():
        dbt_runner.add_arguments(parser, "target")
        parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Make a secret, or raise what is wrong with those that entities use."""
    dbt = dbt_runner.Dbt(arguments.target)
    if arguments.action != "check":
        more = {"force": True} if arguments.force else {}
        more |= {"execute": False} if arguments.dry_run else {}
        dbt.show("secrets", action=arguments.action, **more)
        if arguments.dry_run:
            console.dry_run()
        return 0
    found = state.ask(dbt, secrets={})["secrets"]
    if arguments.output == "json":
        console.print_json(found)
    else:
        print(describe(found))
    wrong = problems(found)
    if wrong:
        raise SparkCdcError(
            "\n".join(wrong),
            "Restore the table of the secret, or take another secret.\nspark-cdc secrets rotate",
        )
    return 0


def describe(found: state.Secrets) -> str:
    """Return a line for each secret: who uses it, and whether it can go."""
    if not found["secrets"]:
        return f"There is no secret. To make one:\n  {INIT}"
    rows = []
    for one in found["secrets"]:
        unused = "" if one["is_current"] else "no entity: its table can be dropped"
        used = ", ".join(one["entities"]) or unused
        rows.append([one["id"], one["table"], "yes" if one["is_current"] else "", used])
    return console.table(["secret", "table", "taken by loads", "used by"], rows, 60)


def problems(found: state.Secrets) -> list[str]:
    """Return what is wrong with secrets that the loads so far were hashed with."""
    proofs = {one["id"]: one["proof"] for one in found["secrets"]}
    said = []
    for used in found["used"]:
        if used["id"] not in proofs:
            said.append(f"{used['entity']}: its secret {used['id']} is gone.")
        elif proofs[used["id"]] != used["proof"]:
            said.append(f"{used['entity']}: its secret {used['id']} has changed.")
    return said
