"""`spark-cdc status`: what is committed of each entity, and drafts of replays."""

from __future__ import annotations

from dataclasses import dataclass

from spark_cdc import console, dbt_runner, parsing, state


@dataclass(frozen=True)
class Options:
    """Options of the command."""

    select: list[str]
    target: str | None
    output: str


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `status` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "status",
        "list the committed loads of each entity, and drafts of replays",
        "",
        "spark-cdc status orders",
    )
    parsing.add_output(parser)
    dbt_runner.add_arguments(parser, "select", "target", "branch")
    parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Print a line for each entity, or all that is known as JSON."""
    found = state.ask(dbt_runner.Dbt(arguments.target), arguments.select, settings={})["entities"]
    if arguments.output == "json":
        console.print_json(found)
        return 0
    headings = [
        "entity",
        "load_type",
        "loads",
        "first",
        "last",
        "rows",
        "last load",
        "undone",
        "replay",
    ]
    rows = [
        (
            one.entity,
            one.load_type,
            len(one.times),
            one.text(one.times[0]) if one.times else "",
            one.text(one.times[-1]) if one.times else "",
            one.rows,
            one.last_load or "",
            ", ".join(one.texts(one.undone)),
            state.described(one),
        )
        for one in map(state.state, found)
        if not one.broken
    ]
    print(console.table(headings, rows, 60))
    for entity in found:
        for problem in entity.get("broken") or entity["settings"]["problems"]:
            print(f"can't be loaded: {problem}")
    return 0
