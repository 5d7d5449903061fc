"""What `spark-cdc tag` and `spark-cdc branch` have in common: states with a name."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from spark_cdc import console, dbt_runner, parsing, state
from spark_cdc.errors import UsageError


@dataclass(frozen=True)
class Kind:
    """A tag or a branch: its noun is its command and its macro.

    example: a name. listing: the part of the macro state that lists them.
    columns: of a listing, beside name, entity and the time when it was made.
    after: lines below a listing.
    """

    noun: str
    example: str
    listing: Literal["tags", "branches"]
    columns: Mapping[str, Callable[[dict[str, Any]], object]]
    after: Callable[[Sequence[dict[str, Any]]], list[str]] = lambda found: []


def add_parser(
    subparsers: parsing.Subparsers, kind: Kind, summary: str, details: str
) -> Mapping[str, argparse.ArgumentParser]:
    """Add the command with create, list and drop; return the parsers of these."""
    noun, example = kind.noun, kind.example
    _, actions = parsing.add_group(
        subparsers, noun, summary, details, f"spark-cdc {noun} create {example}"
    )
    create = parsing.add_command(
        actions,
        "create",
        f"create a {noun} of the present state of entities",
        "All entities are checked first. The same command completes one that was interrupted.",
        f"spark-cdc {noun} create {example} orders customers",
    )
    listing = parsing.add_command(
        actions, "list", f"list the {noun} of each entity", "", f"spark-cdc {noun} list {example}"
    )
    drop = parsing.add_command(
        actions, "drop", f"drop a {noun}", "", f"spark-cdc {noun} drop {example}"
    )
    for parser in (create, listing, drop):
        # `branch` itself is the option by which other commands work in one
        many = "?" if parser is listing else None
        parser.add_argument(
            "name", nargs=many, metavar="NAME", help="lower case letters, digits, _"
        )
        dbt_runner.add_arguments(parser, *(["select"] if parser is not drop else []), "target")
    for parser, act in ((create, run_create), (drop, run_drop)):
        parsing.add_dry_run(parser)
        parser.set_defaults(run=act, kind=kind)
    parsing.add_output(listing)
    listing.set_defaults(run=run_list, kind=kind)
    return actions.choices


def listed(dbt: dbt_runner.Dbt, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the tags or branches of a name, or all."""
    kind: Kind = arguments.kind
    asked: dict[str, dict[str, str]] = {kind.listing: {}}
    data = state.ask(dbt, getattr(arguments, "select", ()), **asked)["entities"]
    found = [listed for one in data for listed in one.get(kind.listing, ())]
    chosen = [one for one in found if arguments.name in (None, one[kind.noun])]
    return sorted(chosen, key=lambda one: (one[kind.noun], one["entity"]))


def run_create(arguments: argparse.Namespace) -> int:
    """Make one, or print what it would be."""
    kind: Kind = arguments.kind
    dbt = dbt_runner.Dbt(arguments.target)
    at = getattr(arguments, "at", None)
    if not arguments.dry_run:
        given = {} if at is None else {"at": at}
        dbt.show(kind.noun, arguments.select, name=arguments.name, **given)
        return 0
    has = {one["entity"] for one in listed(dbt, arguments)}
    for one in state.read(dbt, arguments.select):
        times = one.up_to(at, "--at")
        at_end = (
            f"the state after {one.text(times[-1])}" if times else "no state: nothing is loaded"
        )
        is_there = " (it has it already)" if one.entity in has else ""
        print(f"{one.entity}: {kind.noun} {arguments.name} would be {at_end}{is_there}")
    console.dry_run()
    return 0


def run_drop(arguments: argparse.Namespace) -> int:
    """Drop one, or print which entities have it."""
    kind: Kind = arguments.kind
    dbt = dbt_runner.Dbt(arguments.target)
    if not arguments.dry_run:
        dbt.show(kind.noun, getattr(arguments, "select", ()), name=arguments.name, drop=True)
        return 0
    found = listed(dbt, arguments)
    if not found:
        raise UsageError(
            f"There is no {kind.noun} {arguments.name!r}.", f"spark-cdc {kind.noun} list"
        )
    for one in found:
        print(f"{one['entity']}: {kind.noun} {arguments.name} would be dropped")
    console.dry_run()
    return 0


def run_list(arguments: argparse.Namespace) -> int:
    """Print all, or those of a name."""
    kind: Kind = arguments.kind
    found = listed(dbt_runner.Dbt(arguments.target), arguments)
    if arguments.output == "json":
        console.print_json(found)
        return 0
    print("\n".join([describe(kind, found), *kind.after(found)]))
    return 0


def describe(kind: Kind, found: Sequence[dict[str, Any]]) -> str:
    """Return a line for each entity of each tag or branch."""
    if not found:
        command = f"spark-cdc {kind.noun} create {kind.example}"
        return f"There is no {kind.noun}. To create one:\n  {command}"
    headings = [kind.noun, "entity", "created", *kind.columns]
    rows = [
        [one[kind.noun], one["entity"], one["at"], *(text(one) for text in kind.columns.values())]
        for one in found
    ]
    return console.table(headings, rows, 60)
