"""`spark-cdc report`: what needs attention, and the file; tests/test_report_browser.py opens it."""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import html
import json
import re
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import vl_convert

import reports
from project import Project
from spark_cdc import cli, dbt_runner, state
from spark_cdc.report import page as pages
from spark_cdc.report import writer
from spark_cdc.report.figures import KINDS, Attention, Entity, age, entity

pytestmark = pytest.mark.proves("report")

NOW = dt.datetime(2024, 3, 8, 12)


def made(rows: list[dict[str, Any]], **more: Any) -> Entity:
    """The entity `shop` of some rows of cdc_loads, now."""
    return entity(reports.line("shop", rows, **more), NOW)


def kinds(found: Entity) -> list[str]:
    return [KINDS[kind] for kind in found.loads["kind"]]


def days(*numbers: int, **more: Any) -> list[dict[str, Any]]:
    return [reports.load(f"2024-03-{day:02d}", f"{day:08d}", **more) for day in numbers]


def refused(day: str, attempt: str = "0000000f", **more: Any) -> dict[str, Any]:
    figures = {"status": "refused", "guard": "empty", "message": "the snapshot is empty"}
    return reports.load(day, attempt, **figures, **more)


def test_nothing_needs_attention() -> None:
    found = made(days(5, 6, 7), expected_every="daily")
    assert found.attention == []
    assert found.counted == [0, 1, 2]
    assert (found.level, found.state) == ("healthy", "healthy")
    assert (found.last["time"], found.missing) == ("2024-03-07", [])


@pytest.mark.parametrize(
    ("expected_every", "loaded", "missing", "what"),
    [
        ("daily", (5, 6), ["2024-03-07"], ["stale"]),
        ("daily", (4, 6, 7), ["2024-03-05"], ["missing dates"]),
        ("daily", (4, 6), ["2024-03-05", "2024-03-07"], ["stale", "missing dates"]),
        ("2d", (2, 6), ["2024-03-04"], ["missing dates"]),
        ("weekly", (1,), [], []),
        (None, (1,), [], []),
    ],
)
def test_dates_that_are_expected(
    expected_every: str | None, loaded: tuple[int, ...], missing: list[str], what: list[str]
) -> None:
    """That of a day is due when the day is over; without `expected_every` nobody can tell."""
    found = made(days(*loaded), expected_every=expected_every)
    assert (found.missing, [one.kind for one in found.attention]) == (missing, what)


def test_loads_of_times_of_day() -> None:
    rows = [reports.load(f"2024-03-08 {hour:02d}:00:00") for hour in (8, 10, 11)]
    found = made(rows, per="timestamp", expected_every="hourly")
    assert found.missing == ["2024-03-08 09:00:00"]


def test_a_refused_load_needs_attention_until_its_date_is_loaded() -> None:
    rows = days(6, load_type="delta")
    once = refused("2024-03-07", load_type="delta")
    again = refused("2024-03-07", "0000000e", load_type="delta")
    (told,) = made([*rows, once, again]).attention
    assert told == Attention("refused", "2024-03-07", told.text, told.steps, urgent=True)
    assert told.text == "2 attempts. the snapshot is empty"
    assert made([*rows, once, *days(7, load_type="delta")]).attention == []
    (passed,) = made([*rows, once, *days(8, load_type="delta")]).attention
    assert not passed.urgent
    assert passed.text.startswith("Later dates were loaded without it. ")


def test_a_refused_load_that_was_acknowledged_needs_none() -> None:
    """One of a mistyped date far in the future; nothing between is missing because of it."""
    seen = refused("2062-03-01") | {"status": "acknowledged"}
    found = made([*days(7), seen], expected_every="daily")
    assert found.attention == [] and found.missing == [] and "refused" not in kinds(found)
    [again] = made([*days(7), seen, refused("2062-03-01", "0000000e")]).attention
    assert again.kind == "refused"


def test_a_date_that_was_refused_did_come() -> None:
    found = made([*days(6), refused("2024-03-07")], expected_every="daily")
    assert found.missing == []
    assert [one.kind for one in found.attention] == ["refused"]


def test_a_report_that_ends_before_the_last_load() -> None:
    """--to: later dates are neither missing nor stale, and refused loads are known."""
    rows = [*days(1, 2), refused("2024-03-03")]
    later = [row["load_id"] for row in days(1, 2, 4)]
    at = dt.datetime(2024, 3, 4)
    full = entity(reports.line("shop", rows, expected_every="daily", loads=later), at)
    assert (full.missing, full.attention) == ([], [])
    delta = reports.line("shop", rows, expected_every="daily", loads=later, load_type="delta")
    assert [one.urgent for one in entity(delta, at).attention] == [False]


def test_a_date_that_was_undone_did_come() -> None:
    rows = days(5, 6, 7)
    loads = [row["load_id"] for row in rows]
    found = made(rows, expected_every="daily", loads=loads[:2], undone=loads[2:])
    assert (found.missing, [one.kind for one in found.attention]) == ([], ["undone"])


def test_a_later_full_load_makes_up_for_one_that_was_refused() -> None:
    assert made([*days(6), refused("2024-03-07"), *days(8)]).attention == []


def test_what_became_of_loads() -> None:
    """Replaced by a rerun, compacted, compacted twice, undone, refused."""
    rows = days(1, 2, 3, 4, 5, 6)
    history = reports.load("2024-03-01", "000000h1", load_type="compact")
    history["replaced_load_ids"] = rows[0]["load_id"]
    second = reports.load("2024-03-02", "000000h2", load_type="compact")
    second["replaced_load_ids"] = f"{history['load_id']}, {rows[1]['load_id']}"
    named = [second["load_id"], rows[3]["load_id"], rows[4]["load_id"]]
    undone = [rows[5]["load_id"]]
    found = made(
        [rows[0], history, rows[1], second, *rows[2:], refused("2024-03-07")],
        loads=named,
        undone=undone,
    )
    assert kinds(found) == [
        *("compacted", "compacted", "replaced", "active", "active", "undone", "refused")
    ]
    assert [move["what"] for move in found.moves] == ["compact", "compact"]
    assert [one.kind for one in found.attention] == ["refused", "undone"]
    assert "1 load from 2024-03-06 on was undone." in found.attention[1].text


@pytest.mark.parametrize(
    ("figures", "guard", "used"),
    [
        ({"rows_deleted": 450}, "deleted_share", 0.9),
        ({"rows_deleted": 600}, "deleted_share", 1.2),
        ({"rows_updated": 950}, "updated_share", 1.0),
        ({"rows_inserted": 9000}, "inserted_share", 0.9),
        ({"rows_in": 4500}, "rows_band", 0.935),
        ({"rows_in": 220}, "rows_band", 0.941),
        ({"rows_rejected": 90}, "rejected_share", 0.9),
        ({"rows_rejected": 900, "rows_in": 10_000}, "rejected_share", 0.9),
        ({"rows_deleted": 9, "rows_prior": 10}, "deleted_share", None),
        ({"rows_deleted": 45, "rows_prior": 90}, "deleted_share", 1.0),
        ({"rows_deleted": 300}, "deleted_share", 0.6),
    ],
)
def test_guards_that_were_near(figures: dict[str, int], guard: str, used: float | None) -> None:
    """As _check_guards judges: tests/test_guards.py has the limits themselves."""
    found = made([*days(5, 6), *days(7, **figures)])
    assert found.guards.get(guard, [None])[-1] == (used if used else None)
    told = [one.text for one in found.attention if one.kind == "near a guard" and guard in one.text]
    assert bool(told) == bool(used and used >= 0.8)
    assert all(("overridden" in text) == (used is not None and used > 1) for text in told)


def test_a_guard_that_is_off_is_not_near() -> None:
    guards = reports.GUARDS | {"deleted_share": None, "rows_band": None}
    found = made([*days(6), *days(7, rows_deleted=1000, rows_in=1)], guards=guards)
    assert found.attention == []


def test_rules_that_rows_broke() -> None:
    """Told of the last load only; of those before it the rates are there."""

    def judged(rule: str, broken: int, action: str = "warn") -> dict[str, Any]:
        return {"rule": rule, "action": action, "judged": 1000, "broken": broken}

    found = made(
        [
            *days(5),
            *days(6, rules=[judged("even", 7), judged("known", 1)]),
            *days(7, rules=[judged("even", 2, "drop"), judged("known", 0), judged("new", 0)]),
        ]
    )
    assert found.rules["even"] == {
        "action": "drop",
        "judged": [None, 1000, 1000],
        "broken": [None, 7, 2],
    }
    assert found.rules["new"]["judged"] == [None, None, 1000]
    (told,) = found.attention
    assert (told.kind, told.time, told.urgent) == ("broken rule", "2024-03-07", False)
    assert told.text == "2 of 1,000 rows of the last load broke even (rejected)."


def test_rejected_rows() -> None:
    (told,) = made([*days(5), *days(6, rows_rejected=3), *days(7)]).attention
    assert (told.kind, told.time) == ("rejected rows", "2024-03-06")
    assert told.text == "3 rows were rejected in 1 of 3 loads. shop_rejects holds them."


def test_entities_without_loads_or_yaml() -> None:
    never = entity(reports.line("shop", []), NOW)
    broken = {"entity": "shop", "log": None}
    broken["broken"] = "shop: load_type is missing"
    log = reports.line("shop", days(5))["log"]
    gone = {"entity": "shop", "broken": None, "log": log}
    found = [entity(one, NOW) for one in (never_line(), broken, gone)]
    assert never.attention == found[0].attention
    assert [one.attention[0].kind for one in found] == [
        *("never loaded", "misconfigured", "removed")
    ]
    assert [(one.level, one.state) for one in found] == [
        ("idle", "never loaded"),
        ("urgent", "misconfigured"),
        ("idle", "removed"),
    ]
    assert kinds(found[2]) == ["active"]
    assert found[2].attention[0].steps == []


def test_a_refused_load_has_its_whole_advice_on_the_first_page() -> None:
    """Also a long one, of a first load: that nothing is loaded needs no second finding."""
    advice = "shop: rows are wrong:\n" + "- id: 'x' is not an int\n" * 40 + "  spark-cdc load now"
    row = refused("2024-03-05") | {"message": advice}
    found = entity(reports.line("shop", [row]), NOW)
    assert [one.kind for one in found.attention] == ["refused"]
    page = pages.render("Loads", [found], NOW, []).partition("<script")[0]
    assert html.unescape(page).count(advice) == 1
    assert "never been loaded" not in page


def test_entities_that_have_never_been_loaded_fold_away() -> None:
    """Findings as well as tiles, in closed parts at the end."""
    loaded = entity(reports.line("shop", days(5)), NOW)
    fresh = [entity(reports.line(name, []), NOW) for name in ("bare", "empty")]

    def parts(*entities: Entity) -> tuple[str, list[str]]:
        page = pages.render("Loads", entities, NOW, []).partition("<script")[0]
        page = page.partition("<main")[2]
        folded = re.findall(r"<details class=\"more\">.*?</details>", page, re.DOTALL)
        return re.sub(r"<details.*?</details>", "", page, flags=re.DOTALL), folded

    shown, folded = parts(loaded, *fresh)
    assert "All clear" in shown and 'data-entity="bare"' not in shown
    assert [text.count("data-entity=") for text in folded] == [2, 2]
    assert all("2 entities have never been loaded" in text for text in folded)
    assert "spark-cdc load --select bare" in folded[0]
    shown, folded = parts(fresh[0])
    assert "No entity has a load yet" in shown and "All clear" not in shown
    assert all("1 entity has never been loaded" in text for text in folded)
    shown, folded = parts(loaded)
    assert not folded


def never_line() -> dict[str, Any]:
    return reports.line("shop", []) | {"log": None}


def steps(found: Entity) -> dict[str, list[str]]:
    return {one.kind: [command for _, command in one.steps] for one in found.attention}


def test_commands_that_mend() -> None:
    """Each selects the entity alone, of its dates those that are meant."""
    delta = {"load_type": "delta"}
    late = made(
        [*days(4, 6, **delta), refused("2024-03-05", **delta)], expected_every="daily", **delta
    )
    assert steps(late) == {
        "stale": ["spark-cdc load --select shop"],
        "refused": [
            "spark-cdc replay --from 2024-03-05 --dates 2024-03-05 --select shop --publish",
            "spark-cdc acknowledge 2024-03-05 --select shop",
        ],
    }
    full = made([*days(6, **delta), refused("2024-03-07")], **delta)
    assert steps(full)["refused"][0] == "spark-cdc load 2024-03-07 --load-type full --select shop"
    gaps = made(days(2, 5, 7), expected_every="daily")
    replay = "spark-cdc replay --from 2024-03-03 --dates 2024-03-03 2024-03-04 2024-03-06"
    assert steps(gaps) == {"missing dates": [f"{replay} --select shop --publish"]}
    last = made([*days(5), *days(6, rows_rejected=3)])
    assert steps(last) == {"rejected rows": ["spark-cdc load 2024-03-06 --again --select shop"]}
    earlier = made([*days(5, rows_rejected=1), *days(6)])
    replay = "spark-cdc replay --from 2024-03-05 --select shop --publish"
    assert steps(earlier) == {"rejected rows": [replay]}
    near = made([*days(6), *days(7, rows_deleted=450)])
    first, second = near.loads["load"]
    assert steps(near)["near a guard"] == [
        f"spark-cdc diff shop {first} {second}",
        f"spark-cdc undo shop --to {first}",
    ]


def test_rows_that_only_compacted_loads_rejected_need_no_command() -> None:
    """Such loads can't be replayed one by one."""
    rows = [*days(1, rows_rejected=1), *days(7)]
    history = reports.load("2024-03-01", "000000h1", load_type="compact")
    history["replaced_load_ids"] = rows[0]["load_id"]
    loads = [history["load_id"], rows[1]["load_id"]]
    assert steps(made([*rows, history], loads=loads)) == {"rejected rows": []}


def test_commands_of_a_branch_are_commands() -> None:
    """All that spark-cdc parses, with the target and the branch of the report."""
    rows = [
        *(reports.load(f"2024-03-08 0{hour}:00:00", rows_rejected=1) for hour in (1, 3)),
        reports.load("2024-03-08 04:00:00", rows_deleted=450),
        reports.load("2024-03-08 05:00:00", status="refused", message="no"),
    ]
    more = {"per": "timestamp", "expected_every": "hourly"}
    found = entity(
        reports.line("shop", rows, undone=["20240308T060000-f-00000001"], **more),
        NOW,
        options=" --target cluster --branch try",
    )
    never = entity(never_line(), NOW, options=" --target cluster --branch try")
    commands = [one for every in (found, never) for all_ in steps(every).values() for one in all_]
    assert len(commands) > 8
    for command in commands:
        words = shlex.split(command)
        parsed = cli.parser().parse_args(words[1:])
        assert (words[0], parsed.target, parsed.branch) == ("spark-cdc", "cluster", "try")
        named = getattr(parsed, "select", None) or getattr(parsed, "entities", None)
        assert (named or [parsed.entity]) == ["shop"]


def test_commands_that_the_page_writes_are_commands() -> None:
    """With the options of a report in the place of what the page fills in."""
    script = Path(pages.__file__).parent / "templates" / "page.js"
    commands = re.findall(r"`(spark-cdc [^`]*)`", script.read_text("utf-8"))
    assert len(commands) == 3
    for command in commands:
        filled = command.replace('${entity.options ?? ""}', " --target cluster")
        words = shlex.split(filled.replace("${entity.name}", "shop"))
        assert cli.parser().parse_args(words[1:]).select == ["shop"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3, "under 1 min"), (600, "10 min"), (7_300, "2 h"), (100_000, "27 h"), (400_000, "4 d")],
)
def test_ages(seconds: float, words: str) -> None:
    assert age(seconds) == words
    loaded = reports.load("2024-03-07", committed_at=NOW.timestamp() - seconds)
    at = dt.datetime.fromtimestamp(NOW.timestamp(), dt.timezone.utc).replace(tzinfo=None)
    assert entity(reports.line("shop", [loaded]), at).age == words


@pytest.mark.parametrize("loads", [0, 1, 3, 400])
def test_a_sparkline_has_a_bar_for_each_load(loads: int) -> None:
    """The first load, of which all rows are new, makes no other bar vanish."""
    found = entity(reports.story(1, loads)[0], reports.NOW)
    line = pages.sparkline(found)
    heights = [24 - float(top) for top in re.findall(r"V([0-9.]+)", line["path"])]
    assert len(heights) == min(loads, pages.BARS)
    assert all(height > 1 for height in heights)
    assert bool(line["text"]) == bool(loads)


def test_colours_have_contrast() -> None:
    """Of text 4.5 to what is below it, of marks 3, in light and dark; axe judges no SVG."""
    style = (pages.TEMPLATES / "style.css").read_text("utf-8")
    for place in (1, 2):
        pairs = re.findall(r"--([a-z-]+): light-dark\((#\w+), (#\w+)\)", style)
        colours = {pair[0]: pair[place] for pair in pairs}
        states = ("urgent", "warning", "healthy", "idle")
        wanted = {(name, f"{name}-tint"): 4.5 for name in states}
        for below in ("page", "card", "sunk"):
            wanted |= {(name, below): 4.5 for name in ("text", "faint", "link", *states)}
        marks = ("inserted", "updated", "deleted", "unchanged", "not-supplied", "rejected")
        wanted |= {(name, "card"): 3 for name in (*marks, "refused", "volume", "input", "edge")}
        poor = {
            pair: contrast(*(colours[name] for name in pair))
            for pair, least in wanted.items()
            if contrast(*(colours[name] for name in pair)) < least
        }
        assert not poor


def contrast(first: str, second: str) -> float:
    """The contrast ratio of WCAG."""

    def light(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    lights = sorted((light(first), light(second)), reverse=True)
    return (lights[0] + 0.05) / (lights[1] + 0.05)


def page_data(page: str) -> Any:
    """What the page's script reads."""
    packed = re.search(r'id="data">([^<]*)</script>', page)
    assert packed
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def test_the_page_is_small_and_made_quickly() -> None:
    """200 entities of 400 loads each."""
    lines = reports.many(200, 400)
    begun = time.process_time()
    found = [entity(line, NOW) for line in lines]
    page = pages.render("Loads", found, NOW, [])
    assert time.process_time() - begun < 10
    assert len(page.encode()) < 10_000_000
    data = page_data(page)
    assert len(data["entities"]) == 200
    assert sum(len(one["loads"]["time"]) for one in data["entities"]) == 200 * 420


def test_the_page_asks_for_nothing_and_runs_only_its_own_scripts() -> None:
    page = pages.render("Loads", [made(days(6, 7))], NOW, [])
    assert "default-src 'none'" in page
    for script in re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL):
        assert f"'sha256-{pages._hash(script)}'" in page
    assert len(re.findall("<script", page.split("<script>")[0])) == 1  # the data, which is no code
    assert not re.search(r"<(?:link|img|iframe)|@import|url\(", page.split("<script>")[0])


def test_values_stand_in_the_page_as_text() -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    rows = [*days(6), refused("2024-03-07", load_type="delta") | {"message": evil}]
    details = {"changes": {"rows": [{"keys": {"id": evil}}]}}
    found = entity(reports.line(evil, rows), NOW, details)
    page = pages.render(evil, [found], NOW, [evil])
    assert "alert(1)</script>" not in page
    assert "<img" not in page.split("<script>")[0]
    assert page.count("</script") == 3
    data = page_data(page)["entities"][0]
    assert data["name"] == data["loads"]["message"][1] == evil
    assert data["details"] == details


@pytest.mark.parametrize("chart", pages.charts(), ids=lambda chart: str(chart["name"]))
def test_charts_are_vega_lite(chart: dict[str, Any]) -> None:
    drawn = vl_convert.vegalite_to_vega(chart["vega_lite"])
    assert drawn["marks"]
    assert chart["title"]
    assert chart["says"]


def test_lines_of_dbt_are_taken_as_they_are() -> None:
    lines = [
        {"entities": [{"entity": name, "log": {"rows": rows}} for name in names]}
        for names, rows in (("ab", "spark_cdc: "), ("b", "later"), ("", ""))
    ]
    said = "one\n" + "".join(f"spark_cdc: {json.dumps(line)}\n" for line in lines)
    done = dbt_runner.Done(True, said)
    assert dbt_runner.data(done) == lines[0]
    assert dbt_runner.parts(done, "log") == {"a": {"rows": "spark_cdc: "}, "b": {"rows": "later"}}
    assert dbt_runner.parts(done, "plan") == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--loads", "0"), "--loads 0 is less than 1"),
        (("--rows", "-1"), "--rows -1 is less than 0"),
        (("--from", "2024-02-30"), "'2024-02-30' is not a business date"),
        (("--from", "2024-02-02", "--to", "2024-02-01"), "--to 2024-02-01 is before --from"),
        (("--out", "."), "is a folder"),
    ],
)
def test_options_that_are_wrong(cli: Callable[..., Any], words: tuple[str, ...], said: str) -> None:
    done = cli("report", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "next: " in done.stderr


def test_the_report_of_a_project(
    project: Project, command: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    """All that the page holds is what the tables say; another entity's damage spoils nothing."""
    reports.load_shop(project)
    target = tmp_path / "reports" / "shop.html"
    code, said = command("report", "--out", str(target))
    assert code == 0, said
    assert str(target) in said
    page = target.read_text("utf-8")
    assert page.count("</script") == 3
    assert "torn: no details, because its ledger could not be read: " in page
    data = {one["name"]: one for one in page_data(page)["entities"]}
    parts, bare = data["parts"], data["bare"]

    columns = "business_time, load_id, rows_in, rows_inserted, rows_updated, rows_deleted"
    names = ("time", "load", "rows_in", "inserted", "updated", "deleted")
    logged = sorted(
        project.query(
            f"select {columns} from {{s}}.cdc_loads where entity = 'parts' order by started_at"
        )
    )
    loads = parts["loads"]
    assert sorted(zip(*(loads[name] for name in names), strict=True)) == logged
    assert [KINDS[kind] for kind in loads["kind"]].count("active") == 3
    assert [KINDS[kind] for kind in loads["kind"]].count("replaced") == 1
    assert parts["rows"] == project.query("select count(*) from {s}.parts_current")[0][0]
    assert {one["kind"] for one in parts["attention"]} == {
        *("refused", "rejected rows", "broken rule", "missing dates", "stale"),
    }
    found = project.query(
        "select load_id, rules[0].judged, rules[0].broken from {s}.cdc_loads"
        " where entity = 'parts' and status <> 'refused' order by load_id"
    )
    rule = parts["rules"]["cheap"]
    judged = zip(loads["load"], rule["judged"], rule["broken"], strict=True)
    names = {row[0] for row in found}
    assert sorted(one for one in judged if one[0] in names) == found
    assert bare["attention"][0]["kind"] == "never loaded"

    changes = parts["details"]["changes"]
    assert changes["counts"] == {"added": 1, "removed": 1, "changed": 2}
    assert changes["columns"] == {"name": 1, "price": 2}
    assert {"column_name": "name", "value_before": "bolt", "value_after": reports.EVIL} in [
        value for row in changes["rows"] for value in row["column_differences"]
    ]
    assert parts["details"]["rejects"] == [{"columns": "price", "row_count": 1}]
    (rejected,) = parts["details"]["rejected_rows"]
    active = [KINDS[kind] == "active" for kind in loads["kind"]]
    rejecting = zip(loads["load"], loads["rejected"], active, strict=True)
    assert [load for load, count, is_active in rejecting if count and is_active] == [
        rejected["load"]
    ]
    assert json.loads(rejected["row"]) == {"id": "21", "name": "x", "price": "dear"}
    assert rejected["reason"] == "price: 'dear' is not accepted as decimal(9,2)"
    assert rejected["columns"] == "price"
    assert parts["maintenance"] == {"compact_loads": 100, "retention_hours": 168}
    files = parts["details"]["files"]
    assert [(one["table"], one["is_needed"]) for one in files] == [
        ("parts_ledger", True),
        ("parts_ledger", False),
    ]
    assert all(one["files"] > 0 and one["bytes"] > 0 for one in files)

    assert target.stat().st_mode & 0o777 == 0o600

    words = ("--from", "2024-03-02", "--to", "2024-03-02", "--rows", "0", "--select", "parts")
    code, said = command("report", "--out", str(target), *words)
    assert code == 0, said
    (only,) = page_data(target.read_text("utf-8"))["entities"]
    assert set(only["loads"]["time"]) == {"2024-03-02"}
    assert only["details"]["changes"]["rows"] == only["details"]["rejected_rows"] == []
    assert only["details"]["changes"]["columns"] == changes["columns"]


@pytest.mark.parametrize(("entities", "details"), [(3, False), (writer.MANY + 1, None)])
def test_ledgers_are_read_only_if_that_is_wanted(
    entities: int, details: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = {"loads": ["20240301-f-00000001"]}
    found = [{"entity": f"e{number}", "log": log} for number in range(entities)]
    asked = []

    def answered(*_: Any, **parts: Any) -> dict[str, Any]:
        asked.append(parts.get("details"))
        return {"entities": found}

    monkeypatch.setattr(state, "ask", answered)
    no_dbt: Any = None
    (note,) = writer._answer(no_dbt, writer.Scope(details=details))[1]
    assert "spark-cdc report --details --select" in note
    assert asked == [None if details is False else {"row_limit": 5, "most": writer.MANY}]
