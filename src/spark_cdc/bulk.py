"""`spark-cdc load --bulk`: many dates of an entity in a few statements and one commit."""

from __future__ import annotations

import datetime as dt
import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from spark_cdc import console, dbt_runner, notices, project, schedule, selection
from spark_cdc.errors import UsageError
from spark_cdc.exit_codes import ExitCode

EXAMPLE = "spark-cdc load 2024-01-01..2024-12-31 orders --bulk"
MOST = 60  # dates per statement: each is a bit of a bigint


@dataclass(frozen=True)
class Options(notices.Options):
    """Options that concern bulk loads."""

    select: list[str]
    exclude: list[str]
    skip_guards: list[str]
    skip_missing: bool
    dates_per_statement: int | None


def check(arguments: Options) -> None:
    """Raise UsageError if an option is wrong."""
    if not arguments.select:
        raise UsageError("A bulk load needs entities, and none is named.", selection.NO_ENTITY)
    count = arguments.dates_per_statement
    if count is not None and not 1 <= count <= MOST:
        raise UsageError(
            f"--dates-per-statement is {count}. Accepted is 1 to {MOST}.",
            "Leave it out, or give fewer.",
        )


def run(arguments: Options, dbt: dbt_runner.Dbt, dates: Sequence[tuple[dt.datetime, str]]) -> int:
    """Load the dates of each entity, then bring its views up to date; or say what would come."""
    entities = list(selection.models(dbt, arguments.select, arguments.exclude))
    if not entities:
        raise selection.nothing(arguments)
    skipped = {"spark_cdc_skip_guards": arguments.skip_guards} if arguments.skip_guards else {}
    given = {
        "dates": [text for _, text in dates],
        "skip_missing": arguments.skip_missing,
        "dates_per_statement": arguments.dates_per_statement or MOST,
        "execute": not arguments.dry_run,
    }
    lane = schedule.Lane("", deque(entities))

    def load(_: Sequence[schedule.Lane], screen: console.Screen) -> list[schedule.Outcome]:
        entity = lane.waiting[0]
        values = json.dumps({"entities": [entity], **given})
        done = dbt.run(
            *("run-operation", "spark_cdc.backfill", "--args", values),
            *("--vars", project.variables(skipped)),
            heard=screen.line,
        )
        if not done.ok:
            if problems := dbt_runner.wrong_settings(done):
                raise UsageError(problems, f"Correct them, then load again.\n{arguments.line}")
            return [schedule.Outcome(False, dbt_runner.macro_message(done) or done.output)]
        views = dbt_runner.views_of([entity])
        if not arguments.dry_run:
            what = f"The bulk load of {entity} is committed, but its views are not updated."
            dbt_runner.update_views(dbt, views, what)
        return [schedule.Outcome(True)]

    schedule.work(dbt, [lane], load, arguments.line)
    if lane.failed:
        failed, *later = lane.waiting
        how = "would be refused" if arguments.dry_run else "failed"
        more = f" Not started: {', '.join(later)}." if later else ""
        what = f"The bulk load of {failed} {how}, and nothing of it is committed.{more}"
        rest = f"Then the other entities:\n{arguments.line}" if later else ""
        raise schedule.error(what, lane, arguments.line, rest)
    if arguments.dry_run:
        console.dry_run()
    return ExitCode.DONE
