"""The report in a headless Chromium: figures as in the tables, filters, keys, paper, no error."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import reports
from browser import Browser
from project import Project
from spark_cdc import report_figures, report_page

pytestmark = [pytest.mark.proves("report"), pytest.mark.browser]

ROW = (
    "[...document.querySelectorAll('#entities tr[data-entity=\"{}\"] td')].map(td => td.innerText)"
)
ENTITY = "document.querySelector('#entity')"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    opened = Browser()
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def _no_error(browser: Browser) -> Iterator[None]:
    """The console stays empty, and nothing is asked of the network."""
    browser.problems.clear()
    browser.prefer("light")
    browser.size(1280, 900)
    yield
    assert browser.problems == []


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of 200 entities with 400 loads each."""
    now = dt.datetime(2025, 2, 10)
    found = [report_figures.entity(line, now) for line in reports.many(200, 400)]
    path = tmp_path_factory.mktemp("busy") / "report.html"
    path.write_text(report_page.render("Loads in shop", found, now, []), encoding="utf-8")
    return path


def follow(browser: Browser, entity: str) -> None:
    browser.run(f"location.hash = '#entity/{entity}'")
    browser.wait(f"document.body.dataset.shown === '{entity}'")


def charts(browser: Browser) -> dict[str, int]:
    """Marks that each chart draws, by its name."""
    found: dict[str, int] = browser.run(
        "Object.fromEntries([...document.querySelectorAll('#entity figure')].map(figure =>"
        " [figure.dataset.chart, figure.querySelectorAll('svg .mark-rect path, svg .mark-line"
        " path, svg .mark-area path').length]))"
    )
    return found


def test_figures_are_those_of_the_tables(
    browser: Browser,
    project: Project,
    command: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    reports.load_shop(project)
    page = tmp_path / "shop.html"
    code, said = command("report", "--out", str(page))
    assert code == 0, said
    browser.open(page)
    (counts,) = project.query(
        "select count(*), sum(rows_in), sum(rows_inserted), sum(rows_updated), sum(rows_deleted),"
        " sum(rows_rejected) from {s}.cdc_loads where entity = 'parts' and load_id in"
        " (select load_id from {s}.parts_committed)"
    )
    rows = project.query("select count(*) from {s}.parts_current")[0][0]
    shown = browser.run(ROW.format("parts"))
    assert shown[:5] == ["parts", "full", "daily", "2024-03-04", str(rows)]
    assert [int(text) for text in shown[5:11]] == list(counts)
    assert shown[11] == "1"
    assert browser.run("document.querySelector('#attention tbody tr').innerText").count("parts")

    follow(browser, "parts")
    drawn = charts(browser)
    names = ["changes", "operations", "current", "troubles", "guards", "rules"]
    assert list(drawn) == [*names, "seconds", "lag", "bytes", "files", "calendar"]
    assert all(drawn.values()), drawn
    logged = project.query(
        "select load_id, rows_inserted, rows_updated, rows_deleted, rows_unchanged, rows_current"
        " from {s}.cdc_loads where entity = 'parts' and status <> 'refused' order by load_id"
    )
    table = browser.run(
        "[...document.querySelectorAll('#entity div:last-of-type tbody tr')].map(row =>"
        " [...row.cells].map(cell => cell.innerText))"
    )
    cells = [
        (row[1], *(int(row[place].replace(",", "")) for place in (5, 6, 7, 8, 11)))
        for row in table
        if row[3].partition(";")[0] not in ("refused",)
    ]
    assert sorted(cells) == logged
    assert reports.EVIL in browser.run(f"{ENTITY}.innerText")
    assert browser.run("document.title") == f"Loads in {project.schema}"


def test_filters_by_entity_time_and_kind(browser: Browser, busy: Path) -> None:
    browser.open(busy)
    visible = (
        "[...document.querySelectorAll('{} tr[data-entity]')].filter(row => !row.hidden).length"
    )
    everything = browser.run(visible.format("#entities"))
    assert everything == 200

    def put(field: str, value: str) -> None:
        browser.run(
            f"(() => {{ const field = document.getElementById('{field}'); field.value = '{value}';"
            " field.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )

    put("entity-filter", "_01")
    browser.wait(f"{visible.format('#entities')} === 10")
    put("entity-filter", "")
    put("kind-filter", "stale")
    browser.wait(f"{visible.format('#attention')} === 200")
    put("kind-filter", "")
    put("from-filter", "2024-03-01")
    put("to-filter", "2024-03-10")
    browser.wait(f"({ROW.format('entity_007')})[5] === '10'")
    assert "from 2024-03-01 to 2024-03-10" in browser.run("document.body.innerText")
    inserted = sum(
        row["rows_inserted"]
        for row in rows_of(7)
        if "2024-03-01" <= row["business_time"] <= "2024-03-10" and row["status"] == "committed"
    )
    assert browser.run(ROW.format("entity_007"))[7] == f"{inserted:,}"
    follow(browser, "entity_007")
    assert charts(browser)["changes"] == 30
    browser.run("document.querySelector('#filters [type=reset]').click()")
    browser.wait(
        "document.querySelectorAll('[data-chart=changes] .mark-rect path').length === 1200"
    )


def rows_of(number: int) -> list[dict[str, Any]]:
    """Rows of cdc_loads of one of the many entities."""
    columns = json.loads(reports.many(200, 400)[number]["log"])
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_keys_and_light_and_dark(browser: Browser, busy: Path) -> None:
    browser.open(busy)
    browser.press("/")
    assert browser.run("document.activeElement.id") == "entity-filter"
    for letter in "_199":
        browser.press(letter)
    browser.wait("document.querySelectorAll('#entities tbody tr:not([hidden])').length === 1")
    for _ in range(12):
        browser.press("Tab")
        if browser.run("document.activeElement.closest('#attention') !== null"):
            break
    assert browser.run("document.activeElement.innerText") == "entity_199"
    browser.press("Enter")
    browser.wait("document.body.dataset.shown === 'entity_199'")
    assert browser.run("document.activeElement.id") == "entity-title"
    browser.press("Escape")
    browser.wait("document.body.dataset.shown === ''")

    paper = "getComputedStyle(document.body).backgroundColor"
    light = browser.run(paper)
    browser.prefer("dark")
    assert browser.run(paper) != light
    browser.run("document.getElementById('theme').click()")
    assert browser.run(paper) == light


def test_paper(browser: Browser, busy: Path) -> None:
    """Charts and tables fit on the page, in light colours; there are no buttons."""
    browser.open(busy, "#entity/entity_003")
    browser.prefer("dark", media="print")
    browser.size(794, 1123)  # A4
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not browser.run("document.getElementById('filters').checkVisibility()")
    assert browser.run(
        "[...document.querySelectorAll('.chart svg')].every(svg =>"
        " svg.getBoundingClientRect().width <= svg.closest('figure').clientWidth + 1)"
    )
    assert browser.run("document.documentElement.scrollWidth") <= 794
    assert browser.paper().startswith(b"%PDF")


def test_what_the_docs_show(browser: Browser, tmp_path: Path) -> None:
    """With SPARK_CDC_TEST_PICTURES=docs/pictures the pictures of docs/report.md are taken anew."""
    now = dt.datetime(2024, 6, 29, 9)
    found = [report_figures.entity(line, now) for line in reports.story()]
    page = tmp_path / "report.html"
    page.write_text(report_page.render("Loads in shop", found, now, []), encoding="utf-8")
    folder = Path(os.environ.get("SPARK_CDC_TEST_PICTURES") or tmp_path)
    folder.mkdir(exist_ok=True)
    browser.size(1000, 640)
    browser.open(page)
    browser.picture(folder / "report_attention.webp")
    urgent = browser.run(
        "[...document.querySelectorAll('#attention tr.urgent')].map(row => row.cells[1].innerText)"
    )
    assert urgent == ["refused", "stale"]
    browser.size(1000, 1000)
    browser.open(page, "#entity/orders")
    browser.picture(folder / "report_entity.webp")
    browser.prefer("dark")
    browser.size(1000, 640)
    browser.open(page, "#entity/payments")
    browser.picture(folder / "report_dark.webp")
    assert all(picture.stat().st_size < 80_000 for picture in folder.glob("report_*.webp"))


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of entities with few loads, one of them of times of day."""
    days = [f"2024-06-2{day}" for day in range(1, 4)]
    rules = [{"rule": "cheap", "action": "warn", "judged": 100, "broken": 3}]
    refused = {"status": "refused", "guard": "empty", "message": "a guard stops the load " * 9}
    few = [*(reports.load(day, rules=rules) for day in days[:2]), reports.load(days[2], **refused)]
    times = [reports.load(f"{days[0]} 0{hour}:15:00", load_type="delta") for hour in range(3)]
    changes = {
        "load_id": "x",
        "counts": {"changed": 1},
        "columns": {"a_rather_long_column_name": 1},
        "rows": [
            {
                "row_difference": "changed",
                "keys": {"order_reference": "AB-2024-000017"},
                "column_differences": [
                    {
                        "column_name": "a_rather_long_column_name",
                        "value_before": "something that was there",
                        "value_after": "something else that follows",
                    }
                ],
            }
        ],
    }
    lines = {"few": few, "single": few[:1], "ticks": times}
    found = []
    for name, rows in lines.items():
        line = reports.line(name, rows, per="timestamp" if name == "ticks" else "date")
        details = {"changes": changes} if name == "few" else None
        found.append(report_figures.entity(line, dt.datetime(2024, 6, 24), details))
    path = tmp_path_factory.mktemp("quiet") / "report.html"
    now = dt.datetime(2024, 6, 24)
    path.write_text(report_page.render("Loads in shop", found, now, []), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    ("entity", "labels"),
    [
        ("single", ["2024-06-21"]),
        ("few", ["2024-06-21", "2024-06-22"]),
        ("ticks", [f"2024-06-21 0{hour}:15" for hour in range(3)]),
    ],
)
def test_each_of_few_loads_is_named_on_the_axis(
    browser: Browser, quiet: Path, width: int, entity: str, labels: list[str]
) -> None:
    browser.size(width, 900)
    browser.open(quiet, f"#entity/{entity}")
    for chart in ("changes", "guards", "seconds"):
        shown = browser.run(
            f"[...document.querySelectorAll('[data-chart={chart}] .role-axis-label text')]"
            ".filter(one => one.getAttribute('opacity') !== '0').map(one => one.textContent)"
        )
        assert [text for text in shown if "-" in text] == labels, chart
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_a_narrow_page_breaks_no_words(browser: Browser, quiet: Path) -> None:
    """Long texts get a line of their own, values room for a word."""
    browser.size(390, 900)
    browser.open(quiet)
    width = "document.querySelector('#attention .text').getBoundingClientRect().width"
    assert browser.run(width) > 300
    browser.open(quiet, "#entity/few")
    widths = browser.run(
        "[...document.querySelectorAll('#entity td.value')].map(one => one.clientWidth)"
    )
    assert len(widths) == 3 and min(widths) > 120
    assert browser.run("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("chart", "mark", "names"),
    [
        ("changes", ".mark-rect path", ["business time", "operation", "rows"]),
        ("operations", ".mark-rect path", ["business time", "operation", "rows"]),
        ("current", ".mark-rect path", ["business time", "rows current"]),
        ("guards", ".mark-symbol.role-mark path", ["business time", "guard", "part used"]),
        ("rules", ".mark-symbol.role-mark path", ["business time", "rule", "pass rate"]),
        ("calendar", ".mark-rect path", ["day", "status"]),
    ],
)
def test_a_tooltip_shows_what_its_mark_is(
    browser: Browser, quiet: Path, theme: str, chart: str, mark: str, names: list[str]
) -> None:
    """In the colours of the page, without fields of Vega-Lite's own; of the last load."""
    browser.prefer(theme)
    browser.open(quiet, "#entity/few")
    x, y = browser.run(
        f"(() => {{ const marks = [...document.querySelectorAll('[data-chart={chart}] {mark}')];"
        " const found = marks.sort((one, other) => one.getBoundingClientRect().right"
        " - other.getBoundingClientRect().right).at(-1); found.scrollIntoView({block: 'center'});"
        " const at = found.getBoundingClientRect();"
        " return [at.x + at.width / 2, at.y + at.height / 2]; })()"
    )
    for step in (1, 0):
        browser.move(x - step, y)
    browser.wait("document.querySelector('#vg-tooltip-element.visible') !== null")
    found = browser.run(
        "[...document.querySelectorAll('#vg-tooltip-element td.key')].map(one => one.innerText)"
    )
    assert found == names
    if chart != "calendar":
        time = browser.run("document.querySelector('#vg-tooltip-element td.value').innerText")
        assert time == "2024-06-22"
    colours = (
        "(part => ['color', 'backgroundColor'].map(name => getComputedStyle(part)[name]))"
        "(document.querySelector('{}'))"
    )
    page = browser.run(colours.format("body"))
    assert browser.run(colours.format("#vg-tooltip-element")) == page
    assert browser.run(colours.format("#vg-tooltip-element td.value"))[0] == page[0]
